import { interruption } from "../../interruption.ts";

/** A read that several wait for. It is aborted when none of them waits any more. */
export class SharedRead {
  readonly #bytes: Promise<Uint8Array>;
  readonly #abort = new AbortController();
  readonly #forget: () => void;
  #waiting = 0;

  /** @param forget called once nobody else may join: at the end, or when it is aborted. */
  constructor(read: (signal: AbortSignal) => Promise<Uint8Array>, forget: () => void) {
    this.#forget = forget;
    this.#bytes = read(this.#abort.signal).finally(forget);
    // Each of those who wait is told; there may be none left.
    this.#bytes.catch(() => undefined);
  }

  /**
   * The bytes that are read.
   *
   * @throws what the read throws; MM_INTERRUPTED as soon as `signal` is aborted.
   */
  wait(signal: AbortSignal | undefined): Promise<Uint8Array> {
    this.#waiting += 1;
    if (signal === undefined) return this.#bytes;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const ended = interruption(signal);
        reject(ended);
        this.#leave(ended);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener("abort", onAbort, { once: true });
      const settled = (): void => signal.removeEventListener("abort", onAbort);
      this.#bytes.then(resolve, reject).finally(settled);
    });
  }

  #leave(reason: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#forget();
    this.#abort.abort(reason);
  }
}
