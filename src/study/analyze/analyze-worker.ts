import { workerData } from "node:worker_threads";
import { ScanJob, type ScanJobOptions } from "../../generate/scan-job.ts";
import { serve } from "../../threads/thread-server.ts";
import { ANALYZE, type ScannerOptions } from "./capture-scanner.ts";

const options = workerData as ScanJobOptions<ScannerOptions>; // what threadLane sends

serve(new ScanJob(options, ANALYZE.openSink));
