import type { Thread } from "./thread.ts";

/** Methods of a job that may be done on another thread: their results come later. */
export type Remote<Job, Name extends keyof Job> = {
  readonly [Each in Name]: Job[Each] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** What a thread is asked: a call of a method of its job. */
export interface RemoteCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Calls the methods on this thread; lets others have a turn before each call. */
export function inTurns<Job extends object, Name extends keyof Job & string>(
  job: Job,
  methods: readonly Name[],
): Remote<Job, Name> {
  return remote(methods, async (call) => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return callOn(job, call);
  });
}

/**
 * Calls the methods on another thread, whose module answers with {@link callOn}.
 *
 * @param transfers which buffers of its arguments move to the thread, for methods that have any.
 */
export function onThread<Job, Name extends keyof Job & string>(
  thread: Thread,
  methods: readonly Name[],
  transfers: Transfers<Job, Name>,
): Remote<Job, Name> {
  // Arguments are those of the method, by the type of `Remote`.
  const moved = transfers as Readonly<
    Record<string, (...args: readonly unknown[]) => ArrayBuffer[]>
  >;
  return remote(methods, (call) => thread.ask(call, moved[call.method]?.(...call.args)));
}

type Transfers<Job, Name extends keyof Job> = {
  readonly [Each in Name]?: Job[Each] extends (...args: infer Args) => unknown
    ? (...args: Args) => ArrayBuffer[]
    : never;
};

/** Does what a call asks for. */
export function callOn(job: object, { method, args }: RemoteCall): unknown {
  // Calls are made by `remote`, for methods that the job has.
  const named = job as Record<string, (...given: readonly unknown[]) => unknown>;
  return named[method](...args);
}

function remote<Job, Name extends keyof Job & string>(
  methods: readonly Name[],
  send: (call: RemoteCall) => Promise<unknown>,
): Remote<Job, Name> {
  const calls = methods.map((method) => [
    method,
    (...args: readonly unknown[]) => send({ method, args }),
  ]);
  // The entries above, which lose their types.
  return Object.fromEntries(calls) as Remote<Job, Name>;
}
