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

/** Told of everything a log says, also where it is not certain which URI it is about. */
export interface MemgatorWatcher {
  /** Somebody asked for the mementos of a URI. */
  asked?(uri: string): void;
  /** An archive answered. */
  answered?(archive: string, result: MemgatorOutcome["result"]): void;
  /** An archive is left alone for a while, after failing too often. */
  slept?(archive: string): void;
}

const AGGREGATING = /^Aggregating Mementos for (.+)$/s;
const SUCCESS = /^(\S+) => Success: (\d+) mementos$/;
const RESPONSE_ERROR = /^(\S+) => Response error: (\d{3})\b/;
const DORMANT = /^(\S+) => Dormant after /;
const FAILURE = /^(\S+) => (?:Request|Network|Response read) error\b/;
/** `BENCHMARK` was `PROFILE` until May 2016; messages of errors have a file and line in front. */
const LINE =
  /^(INFO|ERROR|BENCHMARK|PROFILE): \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d+)? (?:\S+\.go:\d+: )?(.*)$/s;
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
 * Holds the sessions that have not ended.
 */
export class MemgatorLog {
  /** Answers that could belong to more than one URI. */
  ambiguous = 0;
  /** Lines of another kind, such as those of start-up. */
  otherLines = 0;
  readonly #uriOfSession = new Map<string, string>();
  /** Sessions whose URI has not been named yet. */
  #nameless: string[] = [];
  #isMixedUp = false;
  #hasTimings = false;
  readonly #owed = new OwedAnswers();
  readonly #watcher: MemgatorWatcher;

  constructor(watcher: MemgatorWatcher = {}) {
    this.#watcher = watcher;
  }

  /** Takes the next line, without its end; tells what it adds to what is known. */
  read(line: string): MemgatorOutcome | undefined {
    const match = LINE.exec(line);
    if (match === null) {
      this.otherLines++;
      return undefined;
    }
    const [, kind = "", text = ""] = match;
    return kind === "BENCHMARK" || kind === "PROFILE" ? this.#event(text) : this.#message(text);
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
      this.#uriOfSession.delete(session);
      return undefined;
    }
    const answer = answerOf(role, info);
    if (answer === undefined) return undefined;
    this.#watcher.answered?.(archive, answer.result);
    const uri = this.#uriOfSession.get(session);
    if (uri !== undefined) return { archive, uri, ...answer };
    this.ambiguous++;
    return undefined;
  }

  #message(text: string): MemgatorOutcome | undefined {
    const uri = AGGREGATING.exec(text)?.[1];
    if (uri !== undefined) {
      this.#watcher.asked?.(uri);
      this.#name(uri);
      this.#owed.ask(uri);
      return undefined;
    }
    const sleeper = DORMANT.exec(text)?.[1];
    if (sleeper !== undefined) {
      this.#watcher.slept?.(sleeper);
      return undefined;
    }
    const [, archive, answer] = messageAnswer(text) ?? [];
    if (archive === undefined || answer === undefined) {
      this.otherLines++;
      return undefined;
    }
    if (this.#hasTimings) return undefined; // told by the line with the timing
    this.#watcher.answered?.(archive, answer.result);
    const asked = this.#owed.answered(archive);
    if (asked !== undefined) return { archive, uri: asked, ...answer };
    this.ambiguous++;
    return undefined;
  }

  #name(uri: string): void {
    const session = this.#nameless.shift();
    if (session !== undefined && !this.#isMixedUp) this.#uriOfSession.set(session, uri);
    if (this.#nameless.length === 0) this.#isMixedUp = false;
  }
}

type Answer = Pick<MemgatorOutcome, "result" | "mementos">;

function answerOf(role: string, info: string): Answer | undefined {
  if (role === "extractmementos") {
    const mementos = Number(/^(\d+) Mementos extracted/.exec(info)?.[1] ?? 0);
    return { result: mementos > 0 ? "hit" : "miss", mementos };
  }
  if (role !== "timemapfetch") return undefined;
  // "Stutus" until May 2016.
  const status = /^Response error in .*, (?:Status|Stutus): (\d+)/.exec(info)?.[1];
  if (status === "404") return { result: "miss", mementos: 0 };
  if (status !== undefined || /^(?:Request|Network|Response read) error in /.test(info)) {
    return { result: "error", mementos: 0 };
  }
  return undefined; // fetched: what was in it follows
}

function messageAnswer(text: string): [text: string, archive: string, answer: Answer] | undefined {
  const success = SUCCESS.exec(text);
  if (success !== null) {
    const mementos = Number(success[2]);
    return [text, success[1] ?? "", { result: mementos > 0 ? "hit" : "miss", mementos }];
  }
  const refused = RESPONSE_ERROR.exec(text);
  if (refused !== null) {
    return [
      text,
      refused[1] ?? "",
      { result: refused[2] === "404" ? "miss" : "error", mementos: 0 },
    ];
  }
  const failed = FAILURE.exec(text);
  return failed === null ? undefined : [text, failed[1] ?? "", { result: "error", mementos: 0 }];
}

/** Which URI an archive's next answer is about, where only one was asked of it. */
class OwedAnswers {
  #asked = 0;
  #lastUri = "";
  /** For each archive, how many URIs were asked when it had answered all, and whether it is unsure. */
  readonly #settled = new Map<string, { asked: number; isUnsure: boolean }>();

  ask(uri: string): void {
    this.#asked++;
    this.#lastUri = uri;
  }

  answered(archive: string): string | undefined {
    const state = this.#settled.get(archive) ?? { asked: 0, isUnsure: false };
    this.#settled.set(archive, state);
    const owed = this.#asked - state.asked;
    state.asked++;
    if (owed > 1) state.isUnsure = true;
    const isKnown = owed === 1 && !state.isUnsure;
    if (owed === 1) state.isUnsure = false;
    return isKnown ? this.#lastUri : undefined;
  }
}
