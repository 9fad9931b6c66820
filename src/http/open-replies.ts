import { problemReply, type Reply } from "./reply.ts";
import { networkOf } from "./rate-limit.ts";

/** Limits the replies that are being sent to one client at once: those that stay open, or take long to read. */
export class OpenReplies {
  readonly #most: number;
  /** Replies of each network that has one. */
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The reply that `make` gives; 503 when the client has enough. */
  async of(address: string, make: () => Reply | Promise<Reply>): Promise<Reply> {
    const network = networkOf(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.#most) {
      const detail = `your network has ${this.#most} of these open; close some first`;
      const headers = { "Retry-After": "10" };
      return problemReply({ status: 503, title: "Too many at once", detail, headers });
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
