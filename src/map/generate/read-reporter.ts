import type { FileProgress } from "../../input/index-input.ts";

const INTERVAL_MS = 200;

/** Adds up what all threads have read, and tells about it a few times a second. */
export class ReadReporter {
  readonly #progress: FileProgress;
  readonly #onRead: ((bytes: number) => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #told = 0;
  #ofFiles = 0;

  constructor(progress: FileProgress, onRead: ((bytes: number) => void) | undefined) {
    this.#progress = progress;
    this.#onRead = onRead;
    this.#timer = onRead === undefined ? undefined : setInterval(() => this.add(0), INTERVAL_MS);
  }

  /** Counts bytes of a part, and what the threads have read of whole files since the last call. */
  add(bytes: number): void {
    const ofFiles = this.#progress.bytes;
    const more = bytes + ofFiles - this.#ofFiles;
    this.#ofFiles = ofFiles;
    this.#told += more;
    if (more > 0) this.#onRead?.(more);
  }

  /** Takes everything back: it will be read again. */
  takeBack(): void {
    this.#onRead?.(-this.#told);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
