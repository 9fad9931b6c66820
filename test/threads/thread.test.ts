import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { MementoMapError } from "../../src/errors.ts";
import { receivedError, sendableError } from "../../src/threads/thread-server.ts";
import { Thread } from "../../src/threads/thread.ts";
import { scratchDir } from "../support/scratch.ts";

/** A thread that runs `onRequest`, a function body with `request`, `id` and `port` in scope. */
function threadOf(onRequest: string): Thread {
  const path = join(scratchDir(), "worker.mjs");
  writeFileSync(
    path,
    `import { parentPort as port } from "node:worker_threads";
     port.on("message", ({ id, args: [request] }) => { ${onRequest} });`,
  );
  const thread = new Thread(pathToFileURL(path), undefined);
  onTestFinished(() => thread.end());
  return thread;
}

const DIED = {
  code: "MM_WORKER",
  message:
    "a worker thread died; more --memory, fewer --threads or a higher limit on open files (ulimit -n) may help",
};

describe("Thread", () => {
  it("gives each request its own answer, in whatever order they come", async () => {
    const thread = threadOf(
      `const held = (globalThis.held ??= []);
       held.unshift({ id, value: request * 2 });
       if (held.length === 3) for (const answer of held) port.postMessage(answer);`,
    );
    expect(await Promise.all([1, 2, 3].map((value) => thread.call("double", [value])))).toEqual([
      2, 4, 6,
    ]);
  });

  it("hands on an error of the worker, with code and place", async () => {
    const thread = threadOf(
      `port.postMessage({ id, error: { code: "MM_LIMIT", message: "too long", position: { source: "x", line: 3 } } });`,
    );
    await expect(thread.call("fail", [])).rejects.toMatchObject({
      name: "MementoMapError",
      code: "MM_LIMIT",
      message: "too long",
      position: { source: "x", line: 3 },
    });
  });

  it.each([
    ["ends", "process.exit(3);"],
    ["throws", "throw new Error('unforeseen');"],
  ])("fails everything asked, now and later, when the worker %s", async (name, body) => {
    expect(name).not.toBe("");
    const thread = threadOf(body);
    const asked = [thread.call("any", [1]), thread.call("any", [2])];
    for (const answer of asked) await expect(answer).rejects.toMatchObject(DIED);
    await expect(thread.call("any", [3])).rejects.toMatchObject(DIED);
  });

  it("fails what is asked of a module that does not exist", async () => {
    const thread = new Thread(pathToFileURL(join(scratchDir(), "none.mjs")), undefined);
    await expect(thread.call("any", [1])).rejects.toMatchObject(DIED);
  });
});

describe("an error between threads", () => {
  it("keeps code, message and place", () => {
    const error = new MementoMapError("MM_IO", "gone", { position: { source: "a", line: 2 } });
    const received = receivedError(structuredClone(sendableError(error)));
    expect(received).toMatchObject({ name: "MementoMapError", code: "MM_IO", message: "gone" });
    expect(received).toHaveProperty("position", { source: "a", line: 2 });
  });

  it("keeps the stack of one that was not foreseen", () => {
    const error = new TypeError("oops");
    const received = receivedError(structuredClone(sendableError(error)));
    expect(received.message).toBe("oops");
    expect(received.stack).toBe(error.stack);
    expect(receivedError(sendableError("text")).message).toBe("text");
  });
});
