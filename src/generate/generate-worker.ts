import { workerData } from "node:worker_threads";
import { serve } from "../threads/thread-server.ts";
import { GENERATE } from "./key-counter.ts";
import { ScanJob, type ScanJobOptions } from "./scan-job.ts";
import type { RowKeyOptions } from "./map-rows.ts";

const options = workerData as ScanJobOptions<RowKeyOptions>; // what threadLane sends

serve(new ScanJob(options, GENERATE.openSink));
