import { serve } from "../../threads/serve.ts";
import { GenerateJob, type JobOptions, type LaneRequest } from "./job.ts";

let job: GenerateJob;

function open(options: JobOptions): void {
  try {
    job = new GenerateJob(options);
  } catch (error) {
    // Without a job there is nothing to go on with: end as a thread does that cannot start.
    setImmediate(() => {
      throw error;
    });
    throw error;
  }
}

serve(async (message) => {
  const request = message as LaneRequest;
  switch (request.kind) {
    case "open":
      return { value: open(request.options) };
    case "read":
      return { value: await job.read(request.task) };
    case "finish":
      return { value: job.finish() };
    case "emit":
      return { value: job.emit(request.task) };
    case "store":
      return { value: job.store() };
    case "combine":
      return { value: job.combine(request.task) };
    case "merge":
      return { value: job.merge(request.task) };
  }
});
