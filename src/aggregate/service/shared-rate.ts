import type { Bus } from "../../files/processes/bus.ts";
import { RateLimit } from "../../http/listen.ts";

const TOPIC = "client-requests";
/** What clients asked for is published this often. */
const PUBLISHED_EVERY_MS = 100;

/**
 * Limits the requests a second of each address over several processes: each publishes ten times a
 * second how much clients asked it for, and counts what they asked the others for.
 */
export class SharedRateLimit extends RateLimit {
  readonly #bus: Bus;
  #taken = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ConstructorParameters<typeof RateLimit>[0], bus: Bus) {
    super(options);
    this.#bus = bus;
    // Other processes are of the same program.
    bus.subscribe(TOPIC, (taken) => {
      for (const [address, count] of taken as ReadonlyMap<string, number>) {
        this.spend(address, count);
      }
    });
  }

  override take(address: string): number {
    const wait = super.take(address);
    if (wait === 0) {
      this.#taken.set(address, (this.#taken.get(address) ?? 0) + 1);
      this.#timer ??= setTimeout(() => this.#publish(), PUBLISHED_EVERY_MS).unref();
    }
    return wait;
  }

  #publish(): void {
    this.#timer = undefined;
    this.#bus.publish(TOPIC, this.#taken);
    this.#taken = new Map();
  }
}
