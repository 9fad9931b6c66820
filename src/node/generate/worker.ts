import { workerData } from "node:worker_threads";
import { serve } from "../threads/serve.ts";
import type { JobOptions } from "./job.ts";
import { GenerateJob } from "./job.ts";
import type { LaneRequest } from "./lane.ts";

const job = new GenerateJob(workerData as JobOptions);

serve(async (message) => {
  const request = message as LaneRequest;
  switch (request.kind) {
    case "read":
      return { value: await job.read(request.task) };
    case "finish":
      return { value: job.finish() };
    case "emit":
      return { value: job.emit(request.task) };
    case "store":
      return { value: job.store() };
    case "merge":
      return { value: job.merge(request.task) };
  }
});
