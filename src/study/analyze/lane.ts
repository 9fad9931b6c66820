import type { ReadTask } from "../../input/tasks.ts";
import { requiredFile } from "../../files/package-file.ts";
import { Thread } from "../../threads/thread.ts";
import type { AnalyzeJobOptions, AnalyzeJobResult } from "./job.ts";
import { AnalyzeJob } from "./job.ts";

/** Something that does a share of the work: a thread of its own, or this one. */
export interface AnalyzeLane {
  read(task: ReadTask): Promise<void>;
  finish(): Promise<AnalyzeJobResult>;
  end(): Promise<void>;
}

/** What the coordinator asks of a worker thread. */
export type AnalyzeRequest =
  | { readonly kind: "read"; readonly task: ReadTask }
  | { readonly kind: "finish" };

/** Works on this thread; lets others have a turn before each step. */
export class InlineAnalyzeLane implements AnalyzeLane {
  readonly #job: AnalyzeJob;

  constructor(options: AnalyzeJobOptions) {
    this.#job = new AnalyzeJob(options);
  }

  async read(task: ReadTask): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await this.#job.read(task);
  }

  finish(): Promise<AnalyzeJobResult> {
    return Promise.resolve(this.#job.finish());
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

/** Works on a worker thread. */
export class ThreadAnalyzeLane implements AnalyzeLane {
  readonly #thread: Thread;

  constructor(options: AnalyzeJobOptions) {
    this.#thread = new Thread(requiredFile("dist/study/analyze/worker.js"), options);
  }

  async read(task: ReadTask): Promise<void> {
    const transfer = task.kind === "block" ? [task.buffer] : [];
    await this.#thread.ask({ kind: "read", task } satisfies AnalyzeRequest, transfer);
  }

  async finish(): Promise<AnalyzeJobResult> {
    const request: AnalyzeRequest = { kind: "finish" };
    return (await this.#thread.ask(request)) as AnalyzeJobResult; // what the worker answers
  }

  end(): Promise<void> {
    return this.#thread.end();
  }
}
