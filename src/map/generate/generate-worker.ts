import { serve } from "../../threads/thread-server.ts";
import { callOn, type RemoteCall } from "../../threads/thread.ts";
import { GenerateJob, type JobOptions } from "./generate-job.ts";

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
  const call = message as RemoteCall;
  if (call.method === "open") return { value: open(call.args[0] as JobOptions) };
  return { value: await callOn(job, call) };
});
