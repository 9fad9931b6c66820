/** The response of one archive to an aggregator's request for the mementos of a URI. */
export interface MemgatorOutcome {
  /** The archive's id, as in MemGator's list. */
  readonly archive: string;
  readonly uri: string;
  /** A miss is a response without mementos, or 404. Other failures are errors, and prove nothing. */
  readonly result: "hit" | "miss" | "error";
  /** For a hit, the number of mementos. */
  readonly mementos: number;
}

/** The archives without a known response when a request is complete. */
export interface OpenAnswers {
  /** Archives that failed. */
  readonly failed: readonly string[];
  /**
   * Archives that were queried, and whose response may be about another URI; "any" where no response
   * can be matched to a request.
   */
  readonly unsure: readonly string[] | "any";
}

/** Receives all events of a log, including responses that cannot be matched to a URI. */
interface MemgatorWatcher {
  /** A client requested the mementos of a URI. */
  asked?(uri: string): void;
  /** An archive responded. */
  answered?(archive: string, result: MemgatorOutcome["result"]): void;
  /** A request is complete. */
  closed?(uri: string, open: OpenAnswers): void;
  /** An archive is paused after repeated failures. */
  slept?(archive: string): void;
}

const ALL_UNSURE: OpenAnswers = { failed: [], unsure: "any" };
const AGGREGATING = /^Aggregating Mementos for (.+)$/s;
const SUCCESS = /^(\S+) => Success: (\d+) mementos$/;
const RESPONSE_ERROR = /^(\S+) => Response error: (\d{3})\b/;
const DORMANT = /^(\S+) => Dormant after /;
const AWAKE = /^(\S+) => Awake after /;
const FAILURE = /^(\S+) => (?:Request|Network|Response read) error\b/;
/** `BENCHMARK` was `PROFILE` until May 2016; error messages start with a file and line. */
const LINE =
  /^(INFO|ERROR|BENCHMARK|PROFILE): (\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d)(?:\.\d+)? (?:\S+\.go:\d+: )?(.*)$/s;
/** Length of a timestamp prefix with a resolution of ten minutes. */
const TEN_MINUTES_LENGTH = "2016/06/09 12:0".length;
/** Longer than any timeout: after such a pause, earlier requests get no more responses. */
const PAUSE_MS = 600_000;
/** The URI of a session follows at once; after this many lines without it, it is lost. */
const LOST_AFTER_LINES = 1000;
const EVENT = /^(\d+) \{"origin": "([^"]*)", "role": "([^"]*)", "info": "(.*)", "start": -?\d+/s;

/**
 * Reads a MemGator log line by line, and reports the response of each archive.
 *
 * Lines with timings (`--benchmark`) name the session but not the URI, the others the URI but not
 * the session. They are joined only where that is unambiguous: the URI that follows the start of a
 * session belongs to it unless another session started in between. Without timings, a response
 * belongs to a URI only if the archive has no other pending request. Ambiguous responses are counted
 * in `ambiguous`, and not reported. The messages of all versions since 2015 are recognized.
 *
 * After a lost line, as when the aggregator was killed, responses are ambiguous until the next pause
 * or, with timings, for two thousand lines at most.
 *
 * Holds the pending sessions; without timings, the last thousand requests.
 */
export class MemgatorLog {
  /** Responses that may belong to more than one URI. */
  ambiguous = 0;
  /** Other lines, such as those of start-up. */
  otherLines = 0;
  readonly #sessions = new Map<string, { readonly uri: string; readonly failed: string[] }>();
  /** Sessions whose URI is not known yet. */
  #nameless: string[] = [];
  /** The minimum number of them in recent lines. */
  #minNameless = 0;
  #lines = 0;
  #lastTime = "";
  #isAmbiguous = false;
  #hasTimings = false;
  readonly #pending: PendingResponses;
  readonly #watcher: MemgatorWatcher;

  constructor(watcher: MemgatorWatcher = {}) {
    this.#watcher = watcher;
    this.#pending = new PendingResponses((uri, open) => {
      watcher.closed?.(uri, open);
    });
  }

  /** Reads the next line, without its terminator; returns the outcome it completes, if any. */
  read(line: string): MemgatorOutcome | undefined {
    const match = LINE.exec(line);
    if (match === null) {
      this.otherLines++;
      return undefined;
    }
    const [, kind = "", time = "", text = ""] = match;
    this.#settleLost(time);
    return kind === "BENCHMARK" || kind === "PROFILE" ? this.#event(text) : this.#message(text);
  }

  /** Call it after the last line: closes the pending requests. */
  end(): void {
    for (const { uri } of this.#sessions.values()) this.#watcher.closed?.(uri, ALL_UNSURE);
    this.#sessions.clear();
    this.#pending.end();
  }

  /** Gives up on lost lines. */
  #settleLost(time: string): void {
    this.#lines++;
    if (isAfterPause(time, this.#lastTime)) {
      this.#dropNameless(this.#nameless.length);
      this.#pending.settle();
    } else if (this.#lines % LOST_AFTER_LINES === 0) {
      this.#dropNameless(this.#minNameless);
    }
    this.#lastTime = time;
  }

  #dropNameless(count: number): void {
    this.#nameless.splice(0, count);
    if (this.#nameless.length === 0) this.#isAmbiguous = false;
    this.#minNameless = this.#nameless.length;
  }

  #event(text: string): MemgatorOutcome | undefined {
    const match = EVENT.exec(text);
    if (match === null) {
      this.otherLines++;
      return undefined;
    }
    const [, session = "", archive = "", role = "", info = ""] = match;
    this.#hasTimings = true;
    if (role === "createsess") {
      this.#nameless.push(session);
      if (this.#nameless.length > 1) this.#isAmbiguous = true;
      return undefined;
    }
    if (archive === "SESSION") {
      const ended = this.#sessions.get(session);
      if (ended !== undefined)
        this.#watcher.closed?.(ended.uri, { failed: ended.failed, unsure: [] });
      this.#sessions.delete(session);
      return undefined;
    }
    const answer = answerOf(role, info);
    if (answer === undefined) return undefined;
    this.#watcher.answered?.(archive, answer.result);
    const request = this.#sessions.get(session);
    if (request !== undefined) {
      if (answer.result === "error") request.failed.push(archive);
      return { archive, uri: request.uri, ...answer };
    }
    this.ambiguous++;
    return undefined;
  }

  #message(text: string): MemgatorOutcome | undefined {
    const uri = AGGREGATING.exec(text)?.[1];
    if (uri !== undefined) {
      this.#watcher.asked?.(uri);
      if (this.#hasTimings) this.#name(uri);
      else this.#pending.addRequest(uri);
      return undefined;
    }
    const paused = DORMANT.exec(text)?.[1];
    if (paused !== undefined) {
      this.#watcher.slept?.(paused);
      this.#pending.pause(paused);
      return undefined;
    }
    const resumed = AWAKE.exec(text)?.[1];
    if (resumed !== undefined) {
      this.#pending.resume(resumed);
      return undefined;
    }
    const [archive, answer] = messageAnswer(text) ?? [];
    if (archive === undefined || answer === undefined) {
      this.otherLines++;
      return undefined;
    }
    if (this.#hasTimings) return undefined; // reported by the line with the timing
    this.#watcher.answered?.(archive, answer.result);
    const requested = this.#pending.addResponse(archive, answer.result !== "error");
    if (requested !== undefined) return { archive, uri: requested, ...answer };
    this.ambiguous++;
    return undefined;
  }

  #name(uri: string): void {
    const session = this.#nameless.shift();
    if (session !== undefined && !this.#isAmbiguous)
      this.#sessions.set(session, { uri, failed: [] });
    else this.#watcher.closed?.(uri, ALL_UNSURE);
    if (this.#nameless.length === 0) this.#isAmbiguous = false;
    this.#minNameless = Math.min(this.#minNameless, this.#nameless.length);
  }
}

/** Whether so much time passed between two lines that no request is in flight any more. */
function isAfterPause(time: string, before: string): boolean {
  if (time.slice(0, TEN_MINUTES_LENGTH) === before.slice(0, TEN_MINUTES_LENGTH)) return false;
  return Date.parse(`${time}Z`) - Date.parse(`${before}Z`) >= PAUSE_MS;
}

type Answer = Pick<MemgatorOutcome, "result" | "mementos">;

function found(mementos: number): Answer {
  return { result: mementos > 0 ? "hit" : "miss", mementos };
}

/** The result of a failure status, or of no response. */
function failed(status?: string): Answer {
  return { result: status === "404" ? "miss" : "error", mementos: 0 };
}

function answerOf(role: string, info: string): Answer | undefined {
  if (role === "extractmementos") {
    return found(Number(/^(\d+) Mementos extracted/.exec(info)?.[1] ?? 0));
  }
  if (role !== "timemapfetch") return undefined;
  // "Stutus" until May 2016.
  const status = /^Response error in .*, (?:Status|Stutus): (\d+)/.exec(info)?.[1];
  const isFailure =
    status !== undefined || /^(?:Request|Network|Response read) error in /.test(info);
  return isFailure ? failed(status) : undefined; // fetched: its mementos follow
}

function messageAnswer(text: string): [archive: string, answer: Answer] | undefined {
  const [, archive, mementos] = SUCCESS.exec(text) ?? [];
  if (archive !== undefined) return [archive, found(Number(mementos))];
  const [, failing, status] = RESPONSE_ERROR.exec(text) ?? FAILURE.exec(text) ?? [];
  return failing === undefined ? undefined : [failing, failed(status)];
}

/** A request in a log without timings. */
interface UntimedRequest {
  readonly uri: string;
  readonly number: number;
  /** Archives that responded, or were not queried because they were paused. */
  readonly settled: Set<string>;
  readonly failed: Set<string>;
}

interface ArchiveState {
  /** Number of pending requests. */
  pending: number;
  /** The last request sent to it. */
  last: UntimedRequest | undefined;
  /** Whether the next response may belong to an earlier request. */
  isUnsure: boolean;
  isPaused: boolean;
  /** Number of the latest request at its last response. */
  answeredAt: number;
}

/** An archive without a response in this many requests before and after one was not queried. */
const WINDOW = 1000;

/**
 * Matches the next response of an archive to a URI if only one request to it is pending; and tracks
 * the archives whose response to a request is missing.
 *
 * The log does not record which archives a request goes to: it goes to all that are not paused and
 * that respond to any of the thousand requests before and after.
 */
class PendingResponses {
  readonly #archives = new Map<string, ArchiveState>();
  readonly #requests: UntimedRequest[] = [];
  readonly #close: (uri: string, open: OpenAnswers) => void;
  #requestCount = 0;
  /** Number of requests that are no longer pending. */
  #settled = 0;
  #last: UntimedRequest | undefined;

  constructor(close: (uri: string, open: OpenAnswers) => void) {
    this.#close = close;
  }

  addRequest(uri: string): void {
    this.#requestCount++;
    const request = {
      uri,
      number: this.#requestCount,
      settled: new Set<string>(),
      failed: new Set<string>(),
    };
    this.#last = request;
    for (const [archive, state] of this.#archives) {
      if (state.isPaused) {
        request.settled.add(archive);
      } else {
        state.pending++;
        state.last = request;
      }
    }
    this.#requests.push(request);
    if (this.#requests.length > 2 * WINDOW) this.#closeFirst(WINDOW);
  }

  /**
   * @param isAnswer false for a failure.
   * @returns the URI of the request, if it is unambiguous.
   */
  addResponse(archive: string, isAnswer: boolean): string | undefined {
    const state = this.#stateOf(archive);
    const { pending } = state;
    state.pending = Math.max(0, pending - 1);
    state.answeredAt = this.#requestCount;
    if (pending > 1) state.isUnsure = true;
    const request = pending === 1 && !state.isUnsure ? state.last : undefined;
    if (pending === 1) state.isUnsure = false;
    (isAnswer ? request?.settled : request?.failed)?.add(archive);
    return request?.uri;
  }

  /** Stops waiting for responses to all requests so far. */
  settle(): void {
    this.#settled = this.#requestCount;
    for (const state of this.#archives.values()) {
      state.pending = 0;
      state.isUnsure = false;
    }
  }

  pause(archive: string): void {
    this.#stateOf(archive).isPaused = true;
  }

  /** The request just before may or may not have been sent to it. */
  resume(archive: string): void {
    const state = this.#stateOf(archive);
    state.isPaused = false;
    state.isUnsure = true;
  }

  end(): void {
    this.#closeFirst(this.#requests.length);
  }

  #stateOf(archive: string): ArchiveState {
    const known = this.#archives.get(archive);
    if (known !== undefined) return known;
    // An archive seen for the first time got all requests since the start or the last pause.
    const state = {
      pending: this.#requestCount - this.#settled,
      last: this.#last,
      isUnsure: false,
      isPaused: false,
      answeredAt: this.#requestCount,
    };
    this.#archives.set(archive, state);
    return state;
  }

  #closeFirst(count: number): void {
    for (const { uri, number, settled, failed } of this.#requests.splice(0, count)) {
      const unsure = [...this.#archives].flatMap(([archive, { answeredAt }]) => {
        const isKnown = settled.has(archive) || failed.has(archive);
        return isKnown || answeredAt < number - WINDOW ? [] : [archive];
      });
      this.#close(uri, { failed: [...failed], unsure });
    }
  }
}
