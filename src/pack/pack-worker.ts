import type { TransferListItem } from "node:worker_threads";
import { serve } from "../threads/thread-server.ts";
import { callOn, type RemoteCall } from "../threads/thread.ts";
import type { BuiltPartition, ShardRun } from "./build-shards.ts";
import { PackJob } from "./pack-job.ts";

const job = new PackJob();

serve(async (message) => {
  const call = message as RemoteCall;
  const value = await callOn(job, call);
  return { value, transfer: transferOf(call.method, value) };
});

/** The words of shards move to the other thread. */
function transferOf(method: string, value: unknown): TransferListItem[] {
  if (method === "solve") return [(value as ShardRun).words.buffer];
  if (method === "build") return (value as BuiltPartition).runs.map(({ words }) => words.buffer);
  return [];
}
