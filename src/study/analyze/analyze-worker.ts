import { workerData } from "node:worker_threads";
import { ScanJob, type ScanJobOptions } from "../../generate/scan-job.ts";
import { serve } from "../../threads/thread-server.ts";
import { callOn, type RemoteCall } from "../../threads/thread.ts";
import { ANALYZE, type ScannerOptions } from "./capture-scanner.ts";

const options = workerData as ScanJobOptions<ScannerOptions>; // what threadLane sends
const job = new ScanJob(options, ANALYZE.openSink);

serve(async (call) => ({ value: await callOn(job, call as RemoteCall) }));
