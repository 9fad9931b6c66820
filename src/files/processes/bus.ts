/**
 * Messages among the processes of a service: what one publishes, all others get, within a turn of
 * their event loops. Messages can be cloned. Publishing never throws, whoever is gone.
 */
export interface Bus {
  /**
   * @param key keeps the message: a process that begins later gets the last one of each key. With
   *   `undefined` for the message, that of the key is forgotten.
   */
  publish(topic: string, message: unknown, key?: string): void;
  /** Calls back for what others publish, and for what is kept of it. */
  subscribe(topic: string, listener: (message: unknown) => void): void;
}

/** The last message of each key, by topic. */
export class KeptMessages {
  readonly #topics = new Map<string, Map<string, unknown>>();

  set(topic: string, key: string, message: unknown): void {
    const known = this.#topics.get(topic) ?? new Map<string, unknown>();
    this.#topics.set(topic, known);
    if (message === undefined) known.delete(key);
    else known.set(key, message);
  }

  of(topic: string): unknown[] {
    return [...(this.#topics.get(topic)?.values() ?? [])];
  }

  *[Symbol.iterator](): IterableIterator<{ topic: string; key: string; message: unknown }> {
    for (const [topic, known] of this.#topics) {
      for (const [key, message] of known) yield { topic, key, message };
    }
  }
}

/** Messages of one kind that processes publish so often that they go in batches. */
export class BatchedTopic<Message> {
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #everyMs: number;
  #pending: Message[] = [];

  /** @param take called for each message of another process. */
  constructor(
    bus: Bus,
    topic: string,
    { everyMs, take }: { readonly everyMs: number; readonly take: (message: Message) => void },
  ) {
    this.#bus = bus;
    this.#topic = topic;
    this.#everyMs = everyMs;
    bus.subscribe(topic, (messages) => {
      // Other processes are of the same program.
      for (const message of messages as readonly Message[]) take(message);
    });
  }

  publish(message: Message): void {
    this.#pending.push(message);
    if (this.#pending.length === 1) setTimeout(() => this.#flush(), this.#everyMs).unref();
  }

  #flush(): void {
    const messages = this.#pending;
    this.#pending = [];
    this.#bus.publish(this.#topic, messages);
  }
}
