import { availableParallelism } from "node:os";

/** Whether threads that read so many files keep all cores busy, so that nothing else is free to help. */
export function keepCoresBusy(threads: number, files: number): boolean {
  return threads >= availableParallelism() && files >= threads;
}
