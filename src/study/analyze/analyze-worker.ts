import { workerData } from "node:worker_threads";
import { callOn, type RemoteCall } from "../../threads/thread.ts";
import { serve } from "../../threads/thread-server.ts";
import { AnalyzeJob, type AnalyzeJobOptions } from "./lane.ts";

const job = new AnalyzeJob(workerData as AnalyzeJobOptions);

serve(async (call) => ({ value: await callOn(job, call as RemoteCall) }));
