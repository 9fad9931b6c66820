import { workerData } from "node:worker_threads";
import { serve } from "../../threads/serve.ts";
import { AnalyzeJob, type AnalyzeJobOptions, type AnalyzeRequest } from "./lane.ts";

const job = new AnalyzeJob(workerData as AnalyzeJobOptions);

serve(async (message) => {
  const request = message as AnalyzeRequest;
  switch (request.kind) {
    case "read":
      await job.read(request.task);
      return { value: undefined };
    case "finish":
      return { value: job.finish() };
  }
});
