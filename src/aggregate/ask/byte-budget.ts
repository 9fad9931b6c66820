import { MementoMapError } from "../../errors.ts";

/** Bytes of answers that are read at once. */
const BUDGET_BYTES = 512 * 2 ** 20;
/** Short answers are taken in any case. */
const SHORT_BYTES = 2 ** 20;

/** What all answers that are being read may take together, whoever asks whom. */
export class ByteBudget {
  readonly #most: number;
  #used = 0;

  constructor(most: number = BUDGET_BYTES) {
    this.#most = most;
  }

  /** Counts the bytes of one answer. */
  open(maxBytes: number): ByteClaim {
    let own = 0;
    return {
      take: (bytes) => {
        own += bytes;
        this.#used += bytes;
        if (own > maxBytes) throw tooLong(`the answer is longer than ${maxBytes} bytes`);
        if (this.#used > this.#most && own > SHORT_BYTES) {
          throw tooLong("too many long answers are being read; ask again later");
        }
      },
      release: () => {
        this.#used -= own;
        own = 0;
      },
    };
  }
}

export interface ByteClaim {
  /** @throws MM_LIMIT where the answer is too long, for itself or beside others. */
  take(bytes: number): void;
  release(): void;
}

function tooLong(message: string): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}
