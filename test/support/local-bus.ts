import { type Bus, KeptMessages } from "../../src/files/processes/bus.ts";

/** A bus within a test: what one end publishes, all others get at once, as clones. */
export class LocalBus {
  readonly #kept = new KeptMessages();
  readonly #ends = new Map<Bus, Map<string, ((message: unknown) => void)[]>>();

  /** One more process. */
  join(): Bus {
    const listeners = new Map<string, ((message: unknown) => void)[]>();
    const end: Bus = {
      publish: (topic, message, key) => {
        const sent: unknown = structuredClone(message);
        if (key !== undefined) this.#kept.set(topic, key, sent);
        for (const [other, each] of this.#ends) {
          if (other !== end) for (const listener of each.get(topic) ?? []) listener(sent);
        }
      },
      subscribe: (topic, listener) => {
        listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
        for (const message of this.#kept.of(topic)) listener(message);
      },
    };
    this.#ends.set(end, listeners);
    return end;
  }
}
