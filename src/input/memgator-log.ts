/** What one archive answered when an aggregator asked it for the mementos of a URI. */
export interface MemgatorOutcome {
  /** The archive's id, as in MemGator's list. */
  readonly archive: string;
  readonly uri: string;
  /** A miss is an answer without mementos, or 404. Anything else that failed says nothing. */
  readonly result: "hit" | "miss" | "error";
  /** For a hit, how many mementos the answer had. */
  readonly mementos: number;
}

/** What is not known of a request after all that a log says of it. */
export interface OpenAnswers {
  /** Archives that failed. */
  readonly failed: readonly string[];
  /**
   * Archives that were asked, and whose answer could be about another URI; "any" where no answer can
   * be told from those to other requests.
   */
  readonly unsure: readonly string[] | "any";
}

/** Told of everything a log says, also where it is not certain which URI it is about. */
interface MemgatorWatcher {
  /** Somebody asked for the mementos of a URI. */
  asked?(uri: string): void;
  /** An archive answered. */
  answered?(archive: string, result: MemgatorOutcome["result"]): void;
  /** All that the log says of a request was told. */
  closed?(uri: string, open: OpenAnswers): void;
  /** An archive is not asked for a while, after failing too often. */
  slept?(archive: string): void;
}

const ALL_UNSURE: OpenAnswers = { failed: [], unsure: "any" };
const AGGREGATING = /^Aggregating Mementos for (.+)$/s;
const SUCCESS = /^(\S+) => Success: (\d+) mementos$/;
const RESPONSE_ERROR = /^(\S+) => Response error: (\d{3})\b/;
const DORMANT = /^(\S+) => Dormant after /;
const AWAKE = /^(\S+) => Awake after /;
const FAILURE = /^(\S+) => (?:Request|Network|Response read) error\b/;
/** `BENCHMARK` was `PROFILE` until May 2016; messages of errors have a file and line in front. */
const LINE =
  /^(INFO|ERROR|BENCHMARK|PROFILE): (\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d)(?:\.\d+)? (?:\S+\.go:\d+: )?(.*)$/s;
/** How much of a time tells ten minutes. */
const TEN_MINUTES_LENGTH = "2016/06/09 12:0".length;
/** No archive is waited for as long: after such a pause no answer to what was asked before it comes. */
const PAUSE_MS = 600_000;
/** Sessions are named at once: where one had no name during as many lines, its name is lost. */
const LOST_AFTER_LINES = 1000;
const EVENT = /^(\d+) \{"origin": "([^"]*)", "role": "([^"]*)", "info": "(.*)", "start": -?\d+/s;

/**
 * Reads the log of a MemGator, line by line, and tells what each archive answered.
 *
 * Lines with timings (`--benchmark`) name the session but not the URI, the others the URI but not
 * the session. They are joined where that is certain: the URI that follows the start of a session
 * belongs to it unless another session started in between. Without timings, an answer belongs to a
 * URI only if the archive owes no other one. What is not certain is counted in `ambiguous`, and not
 * told. Wordings of all versions since 2015 are known.
 *
 * A line that was lost, as when the aggregator was killed, costs what is said until the next pause or,
 * with timings, for two thousand lines at most.
 *
 * Holds the sessions that have not ended; without timings, the last thousand requests.
 */
export class MemgatorLog {
  /** Answers that could belong to more than one URI. */
  ambiguous = 0;
  /** Lines of another kind, such as those of start-up. */
  otherLines = 0;
  readonly #sessions = new Map<string, { readonly uri: string; readonly failed: string[] }>();
  /** Sessions whose URI has not been named yet. */
  #nameless: string[] = [];
  /** The fewest there were in the last lines. */
  #fewestNameless = 0;
  #lines = 0;
  #lastTime = "";
  #isMixedUp = false;
  #hasTimings = false;
  readonly #owed: OwedAnswers;
  readonly #watcher: MemgatorWatcher;

  constructor(watcher: MemgatorWatcher = {}) {
    this.#watcher = watcher;
    this.#owed = new OwedAnswers((uri, open) => {
      watcher.closed?.(uri, open);
    });
  }

  /** Takes the next line, without its end; tells what it adds to what is known. */
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

  /** Call it after the last line: closes the requests that have not ended. */
  end(): void {
    for (const { uri } of this.#sessions.values()) this.#watcher.closed?.(uri, ALL_UNSURE);
    this.#sessions.clear();
    this.#owed.end();
  }

  /** Waits no longer for lines that are lost. */
  #settleLost(time: string): void {
    this.#lines++;
    if (isAfterPause(time, this.#lastTime)) {
      this.#dropNameless(this.#nameless.length);
      this.#owed.settle();
    } else if (this.#lines % LOST_AFTER_LINES === 0) {
      this.#dropNameless(this.#fewestNameless);
    }
    this.#lastTime = time;
  }

  #dropNameless(count: number): void {
    this.#nameless.splice(0, count);
    if (this.#nameless.length === 0) this.#isMixedUp = false;
    this.#fewestNameless = this.#nameless.length;
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
      if (this.#nameless.length > 1) this.#isMixedUp = true;
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
    const asking = this.#sessions.get(session);
    if (asking !== undefined) {
      if (answer.result === "error") asking.failed.push(archive);
      return { archive, uri: asking.uri, ...answer };
    }
    this.ambiguous++;
    return undefined;
  }

  #message(text: string): MemgatorOutcome | undefined {
    const uri = AGGREGATING.exec(text)?.[1];
    if (uri !== undefined) {
      this.#watcher.asked?.(uri);
      if (this.#hasTimings) this.#name(uri);
      else this.#owed.ask(uri);
      return undefined;
    }
    const sleeper = DORMANT.exec(text)?.[1];
    if (sleeper !== undefined) {
      this.#watcher.slept?.(sleeper);
      this.#owed.sleep(sleeper);
      return undefined;
    }
    const woken = AWAKE.exec(text)?.[1];
    if (woken !== undefined) {
      this.#owed.wake(woken);
      return undefined;
    }
    const [archive, answer] = messageAnswer(text) ?? [];
    if (archive === undefined || answer === undefined) {
      this.otherLines++;
      return undefined;
    }
    if (this.#hasTimings) return undefined; // told by the line with the timing
    this.#watcher.answered?.(archive, answer.result);
    const asked = this.#owed.answered(archive, answer.result !== "error");
    if (asked !== undefined) return { archive, uri: asked, ...answer };
    this.ambiguous++;
    return undefined;
  }

  #name(uri: string): void {
    const session = this.#nameless.shift();
    if (session !== undefined && !this.#isMixedUp) this.#sessions.set(session, { uri, failed: [] });
    else this.#watcher.closed?.(uri, ALL_UNSURE);
    if (this.#nameless.length === 0) this.#isMixedUp = false;
    this.#fewestNameless = Math.min(this.#fewestNameless, this.#nameless.length);
  }
}

/** Whether so much time passed between two lines that nothing is under way any more. */
function isAfterPause(time: string, before: string): boolean {
  if (time.slice(0, TEN_MINUTES_LENGTH) === before.slice(0, TEN_MINUTES_LENGTH)) return false;
  return Date.parse(`${time}Z`) - Date.parse(`${before}Z`) >= PAUSE_MS;
}

type Answer = Pick<MemgatorOutcome, "result" | "mementos">;

function found(mementos: number): Answer {
  return { result: mementos > 0 ? "hit" : "miss", mementos };
}

/** An archive that answered with this status, or did not answer. */
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
  return isFailure ? failed(status) : undefined; // fetched: what was in it follows
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
  /** Archives that answered, and those that were not asked because they slept. */
  readonly settled: Set<string>;
  readonly failed: Set<string>;
}

interface ArchiveState {
  /** How many requests it has not answered. */
  owed: number;
  /** The last request it was asked. */
  last: UntimedRequest | undefined;
  /** Whether the next answer may be to an earlier request. */
  isUnsure: boolean;
  isAsleep: boolean;
  /** How many requests there were when it last answered. */
  answeredAt: number;
}

/** An archive without any answer in this many requests before and after one was not asked. */
const WINDOW = 1000;

/**
 * Which URI an archive's next answer is about, where only one was asked of it; and which archives
 * still owe an answer to a request.
 *
 * The log does not say which archives a request goes to: it goes to all that are awake and that
 * answer anything within a thousand requests before and after.
 */
class OwedAnswers {
  readonly #archives = new Map<string, ArchiveState>();
  readonly #requests: UntimedRequest[] = [];
  readonly #close: (uri: string, open: OpenAnswers) => void;
  #asked = 0;
  /** How many of those that were asked are waited for no longer. */
  #settled = 0;
  #last: UntimedRequest | undefined;

  constructor(close: (uri: string, open: OpenAnswers) => void) {
    this.#close = close;
  }

  ask(uri: string): void {
    this.#asked++;
    const request = {
      uri,
      number: this.#asked,
      settled: new Set<string>(),
      failed: new Set<string>(),
    };
    this.#last = request;
    for (const [archive, state] of this.#archives) {
      if (state.isAsleep) {
        request.settled.add(archive);
      } else {
        state.owed++;
        state.last = request;
      }
    }
    this.#requests.push(request);
    if (this.#requests.length > 2 * WINDOW) this.#closeFirst(WINDOW);
  }

  /**
   * @param isAnswer false for a failure, after which nothing is known.
   * @returns the URI that the answer is certain to be about, if there is one.
   */
  answered(archive: string, isAnswer: boolean): string | undefined {
    const state = this.#stateOf(archive);
    const { owed } = state;
    state.owed = Math.max(0, owed - 1);
    state.answeredAt = this.#asked;
    if (owed > 1) state.isUnsure = true;
    const request = owed === 1 && !state.isUnsure ? state.last : undefined;
    if (owed === 1) state.isUnsure = false;
    (isAnswer ? request?.settled : request?.failed)?.add(archive);
    return request?.uri;
  }

  /** Waits for no more answers to what was asked until now. */
  settle(): void {
    this.#settled = this.#asked;
    for (const state of this.#archives.values()) {
      state.owed = 0;
      state.isUnsure = false;
    }
  }

  sleep(archive: string): void {
    this.#stateOf(archive).isAsleep = true;
  }

  /** A request that came just before may have been asked of it or not. */
  wake(archive: string): void {
    const state = this.#stateOf(archive);
    state.isAsleep = false;
    state.isUnsure = true;
  }

  end(): void {
    this.#closeFirst(this.#requests.length);
  }

  #stateOf(archive: string): ArchiveState {
    const known = this.#archives.get(archive);
    if (known !== undefined) return known;
    // What is named for the first time was asked from the start, or the last pause, on.
    const state = {
      owed: this.#asked - this.#settled,
      last: this.#last,
      isUnsure: false,
      isAsleep: false,
      answeredAt: this.#asked,
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
