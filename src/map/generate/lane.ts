import { requiredFile } from "../../files/package-file.ts";
import { Thread } from "../../threads/thread.ts";
import type { EmitTask, FinishResult, JobOptions, MergeResult, MergeTask } from "./job.ts";
import { GenerateJob } from "./job.ts";
import type { CombineTask, RunCombiner, StoredRun } from "./stored-runs.ts";
import type { PartResult, ReadTask } from "../../input/index-input.ts";

/** Something that does a share of the work: a thread of its own, or this one. */
export interface Lane extends RunCombiner {
  /** How many parts to give it at once, so that it need not wait for the next. */
  readonly readsAtOnce: number;
  read(task: ReadTask): Promise<PartResult>;
  finish(): Promise<FinishResult>;
  emit(task: EmitTask): Promise<MergeResult>;
  store(): Promise<readonly StoredRun[]>;
  merge(task: MergeTask): Promise<MergeResult>;
  end(): Promise<void>;
}

/** What the coordinator asks of a worker thread. */
export type LaneRequest =
  | { readonly kind: "open"; readonly options: JobOptions }
  | { readonly kind: "read"; readonly task: ReadTask }
  | { readonly kind: "finish" }
  | { readonly kind: "emit"; readonly task: EmitTask }
  | { readonly kind: "store" }
  | { readonly kind: "combine"; readonly task: CombineTask }
  | { readonly kind: "merge"; readonly task: MergeTask };

/** Works on this thread; lets others have a turn after each step. */
export class InlineLane implements Lane {
  readonly readsAtOnce = 1;
  readonly #job: GenerateJob;

  constructor(options: JobOptions) {
    this.#job = new GenerateJob(options);
  }

  read(task: ReadTask): Promise<PartResult> {
    return inTurn(() => this.#job.read(task));
  }

  finish(): Promise<FinishResult> {
    return inTurn(() => this.#job.finish());
  }

  emit(task: EmitTask): Promise<MergeResult> {
    return inTurn(() => this.#job.emit(task));
  }

  store(): Promise<readonly StoredRun[]> {
    return inTurn(() => this.#job.store());
  }

  combine(task: CombineTask): Promise<StoredRun> {
    return inTurn(() => this.#job.combine(task));
  }

  merge(task: MergeTask): Promise<MergeResult> {
    return inTurn(() => this.#job.merge(task));
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Starts a thread for a {@link ThreadLane}; it can start before it is known what to do. */
export function startLaneThread(): Thread {
  return new Thread(requiredFile("dist/map/generate/worker.js"), undefined);
}

/** Works on a worker thread. */
export class ThreadLane implements Lane {
  readonly readsAtOnce = 2;
  readonly #thread: Thread;

  constructor(thread: Thread, options: JobOptions) {
    this.#thread = thread;
    // Whatever fails here fails the requests that follow.
    this.#ask({ kind: "open", options }).catch(() => undefined);
  }

  read(task: ReadTask): Promise<PartResult> {
    const transfer = task.kind === "block" ? [task.buffer] : [];
    return this.#ask<PartResult>({ kind: "read", task }, transfer);
  }

  finish(): Promise<FinishResult> {
    return this.#ask<FinishResult>({ kind: "finish" });
  }

  emit(task: EmitTask): Promise<MergeResult> {
    return this.#ask<MergeResult>({ kind: "emit", task });
  }

  store(): Promise<readonly StoredRun[]> {
    return this.#ask<readonly StoredRun[]>({ kind: "store" });
  }

  combine(task: CombineTask): Promise<StoredRun> {
    return this.#ask<StoredRun>({ kind: "combine", task });
  }

  merge(task: MergeTask): Promise<MergeResult> {
    return this.#ask<MergeResult>({ kind: "merge", task });
  }

  end(): Promise<void> {
    return this.#thread.end();
  }

  #ask<T>(request: LaneRequest, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    // The worker answers each kind of request with its result type.
    return this.#thread.ask(request, transfer) as Promise<T>;
  }
}
