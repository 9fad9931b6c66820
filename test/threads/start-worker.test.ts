import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { startWorker } from "../../src/threads/thread.ts";

/** A thread that tells whether V8 optimises its functions in the background. */
const TELLS = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { setFlagsFromString } from "node:v8";
    import { parentPort } from "node:worker_threads";
    setFlagsFromString("--allow-natives-syntax");
    parentPort.postMessage(new Function("return %IsConcurrentRecompilationSupported()")());
  `)}`,
);

async function told(worker: Worker): Promise<unknown> {
  const [answer] = (await once(worker, "message")) as unknown[];
  await worker.terminate();
  return answer;
}

describe("a worker thread of ours", () => {
  // Node 20 aborts when a thread ends while the background asks for a collection of its garbage.
  it("optimises its functions itself", async () => {
    const workers = [startWorker(TELLS, undefined), startWorker(TELLS, undefined)];
    expect(await Promise.all(workers.map(told))).toEqual([false, false]);
  });

  it("leaves other threads as they were", async () => {
    await told(startWorker(TELLS, undefined));
    expect(await told(new Worker(TELLS))).toBe(true);
  });

  it("leaves them so too when it cannot start", async () => {
    const missing = startWorker(new URL("file:///nowhere/thread.js"), undefined);
    await once(missing, "error");
    expect(() => startWorker(new URL("https://example.org/thread.js"), undefined)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_URL_SCHEME" }),
    );
    expect(await told(new Worker(TELLS))).toBe(true);
  });
});
