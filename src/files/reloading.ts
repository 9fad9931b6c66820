import { isDeepStrictEqual } from "node:util";
import { foreseenError, type MementoMapError } from "../errors.ts";

export interface ReloadingOptions<Stamp> {
  /** Identifies the current version; undefined if there is none to load. */
  readonly stamp: () => Promise<Stamp | undefined>;
  /** Loads and activates the version of a stamp, or throws and changes nothing. */
  readonly take: (stamp: Stamp) => Promise<void>;
  /** Source name for messages. */
  readonly source: string;
  /** Called for each failure; `isNews` is false if it repeats the previous one. */
  readonly onFailure: (error: MementoMapError, isNews: boolean) => void;
}

/**
 * Keeps data loaded from files up to date. A new version is loaded while the old one is in use, and
 * replaces it only if it is valid.
 *
 * A rejected version is not loaded again until its files change. After an I/O error, such as too many
 * open files, the same version is tried again at the next check.
 */
export class Reloading<Stamp> {
  readonly #options: ReloadingOptions<Stamp>;
  /** The last version tried. */
  #tried: Stamp | undefined;
  #error: MementoMapError | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(options: ReloadingOptions<Stamp>) {
    this.#options = options;
  }

  /** The last error, until a check succeeds; an older version may be in use. */
  get error(): MementoMapError | undefined {
    return this.#error;
  }

  /** Sets the version in use. */
  assume(stamp: Stamp): void {
    this.#tried = stamp;
  }

  /** Resolves when all checks so far are done. */
  get settled(): Promise<void> {
    return this.#working;
  }

  /**
   * Loads the current version unless it is the last one tried. Checks run one at a time.
   *
   * @param isDue whether to load it even if nothing changed.
   */
  check(isDue: () => boolean = () => false): Promise<void> {
    const done = this.#working.then(() => this.#check(isDue));
    // The caller gets the error; the next check runs regardless.
    this.#working = done.catch(() => undefined);
    return done;
  }

  /** Reports an error from elsewhere, such as from the source of new versions. */
  fail(error: MementoMapError): void {
    const isNews = this.#error?.describe() !== error.describe();
    this.#error = error;
    this.#options.onFailure(error, isNews);
  }

  /** Clears the error: the version in use is valid. */
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
