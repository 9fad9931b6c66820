import type { TransferListItem } from "node:worker_threads";
import { serve } from "../threads/thread-server.ts";
import type { BuiltPartition, ShardRun } from "./build-shards.ts";
import { PackJob } from "./pack-job.ts";

serve(new PackJob(), transferOf);

/** The words of shards move to the other thread. */
function transferOf(method: string, value: unknown): TransferListItem[] {
  if (method === "solve") return [(value as ShardRun).words.buffer];
  if (method === "build") return (value as BuiltPartition).runs.map(({ words }) => words.buffer);
  return [];
}
