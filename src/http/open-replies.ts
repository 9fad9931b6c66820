import { problemReply, type Reply } from "./reply.ts";
import { networkOf } from "./rate-limit.ts";

/** Limits the concurrent replies to one client, for replies that stay open or take long to read. */
export class OpenReplies {
  readonly #max: number;
  /** Open replies by network. */
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the reply of `make`, or 503 if the client is at its limit. */
  async of(address: string, make: () => Reply | Promise<Reply>): Promise<Reply> {
    const network = networkOf(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.#max) {
      const detail = `your network already has ${this.#max} of these open; close some first`;
      const headers = { "Retry-After": "10" };
      return problemReply({ status: 503, title: "Too many concurrent requests", detail, headers });
    }
    this.#open.set(network, open + 1);
    try {
      const reply = await make();
      return {
        ...reply,
        release: async () => {
          this.#end(network);
          await reply.release?.();
        },
      };
    } catch (error) {
      this.#end(network);
      throw error;
    }
  }

  #end(network: string): void {
    const open = (this.#open.get(network) ?? 1) - 1;
    if (open === 0) this.#open.delete(network);
    else this.#open.set(network, open);
  }
}
