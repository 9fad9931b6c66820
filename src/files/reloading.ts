import { isDeepStrictEqual } from "node:util";
import { foreseenError, type MementoMapError } from "../errors.ts";

export interface ReloadingOptions<Stamp> {
  /** What tells versions apart; undefined when there is none to take. */
  readonly stamp: () => Promise<Stamp | undefined>;
  /** Reads the version of a stamp and puts it in use, or throws and changes nothing. */
  readonly take: (stamp: Stamp) => Promise<void>;
  /** What is read, for messages. */
  readonly source: string;
  /** Called for each failure; `isNews` unless the last one was the same. */
  readonly onFailure: (error: MementoMapError, isNews: boolean) => void;
}

/**
 * Keeps what is read from files up to date. A new version is read while the old one is in use, and
 * takes its place only if nothing is wrong with it.
 *
 * A version that is refused is not read again until its files change. Where the reading itself
 * failed, as for want of open files, the same version is tried again at the next check.
 */
export class Reloading<Stamp> {
  readonly #options: ReloadingOptions<Stamp>;
  /** The last version that was tried. */
  #tried: Stamp | undefined;
  #error: MementoMapError | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(options: ReloadingOptions<Stamp>) {
    this.#options = options;
  }

  /** What went wrong last, until something goes well; an older version may be in use. */
  get error(): MementoMapError | undefined {
    return this.#error;
  }

  /** Notes which version is in use. */
  assume(stamp: Stamp): void {
    this.#tried = stamp;
  }

  /** Resolves when the checks so far are done. */
  get settled(): Promise<void> {
    return this.#working;
  }

  /**
   * Takes the current version if it is not the one that was tried last. Checks run one after the other.
   *
   * @param isDue whether to take it although nothing changed.
   */
  check(isDue: () => boolean = () => false): Promise<void> {
    const done = this.#working.then(() => this.#check(isDue));
    // The caller learns what went wrong; the next check runs in any case.
    this.#working = done.catch(() => undefined);
    return done;
  }

  /** Notes what went wrong elsewhere, such as where new versions come from. */
  fail(error: MementoMapError): void {
    const isNews = this.#error?.describe() !== error.describe();
    this.#error = error;
    this.#options.onFailure(error, isNews);
  }

  /** Notes that all is well with the version in use. */
  confirm(): void {
    this.#error = undefined;
  }

  async #check(isDue: () => boolean): Promise<void> {
    const { stamp: currentStamp, take, source } = this.#options;
    try {
      const stamp = await currentStamp();
      if (stamp === undefined || (!isDue() && isDeepStrictEqual(stamp, this.#tried))) return;
      this.#tried = stamp;
      await take(stamp);
      this.confirm();
    } catch (error) {
      const foreseen = foreseenError(error, source);
      if (foreseen === undefined) throw error;
      if (foreseen.code === "MM_IO") this.#tried = undefined;
      this.fail(foreseen);
    }
  }
}
