import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { removeFolderNow } from "../../src/files/scratch.ts";
import { scratchDir } from "../support/scratch.ts";

describe("removeFolderNow", () => {
  it("removes a folder that a thread is writing to", async () => {
    const parent = scratchDir();
    for (let round = 0; round < 10; round++) {
      const folder = join(parent, `${round}`);
      mkdirSync(join(folder, "inner"), { recursive: true });
      for (let i = 0; i < 200; i++) writeFileSync(join(folder, "inner", `${i}`), "");
      const writer = new Worker(
        `const { writeFileSync } = require("node:fs");
         const { parentPort, workerData } = require("node:worker_threads");
         const pause = new Int32Array(new SharedArrayBuffer(4));
         parentPort.postMessage("ready");
         try {
           for (let i = 0; ; i++) {
             writeFileSync(workerData + "/" + i, "");
             Atomics.wait(pause, 0, 0, 1);
           }
         } catch {}`,
        { eval: true, workerData: folder },
      );
      onTestFinished(async () => void (await writer.terminate()));
      await new Promise((resolve) => writer.once("message", resolve));
      removeFolderNow(folder);
      expect(existsSync(folder)).toBe(false);
    }
  });

  it("minds no folder that is not there", () => {
    expect(() => removeFolderNow(join(scratchDir(), "nothing"))).not.toThrow();
  });
});
