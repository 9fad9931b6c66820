/** What the primary process tells a worker. */
export type ToWorker =
  | { readonly type: "start"; readonly start: unknown }
  | { readonly type: "stop" }
  | { readonly type: "reload" }
  /** Asks for what this worker knows. */
  | { readonly type: "question"; readonly id: number; readonly what: string }
  /** What all workers know, as the worker asked for it. */
  | { readonly type: "collected"; readonly id: number; readonly value: unknown };

/** What a worker tells the primary process. */
export type ToPrimary =
  /** It listens to messages. */
  | { readonly type: "hello" }
  /** It serves. */
  | { readonly type: "ready"; readonly value: unknown }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  /** Asks for what all workers know. */
  | { readonly type: "collect"; readonly id: number; readonly what: string };
