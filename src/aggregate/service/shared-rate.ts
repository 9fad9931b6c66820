import { BatchedTopic, type Bus } from "../../files/processes/bus.ts";
import { RateLimit } from "../../http/listen.ts";

/** What clients asked for is published this often. */
const PUBLISHED_EVERY_MS = 100;

/**
 * Limits the requests a second of each address over several processes: each publishes ten times a
 * second what clients asked it for, and counts what they asked the others for.
 */
export class SharedRateLimit extends RateLimit {
  readonly #taken: BatchedTopic<string>;

  constructor(options: ConstructorParameters<typeof RateLimit>[0], bus: Bus) {
    super(options);
    this.#taken = new BatchedTopic(bus, "client-requests", {
      everyMs: PUBLISHED_EVERY_MS,
      take: (address) => this.spend(address, 1),
    });
  }

  override take(address: string): number {
    const wait = super.take(address);
    if (wait === 0) this.#taken.publish(address);
    return wait;
  }
}
