import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  isAbandoned,
  ownerMark,
  removeAbandoned,
  removeFolderNow,
  temporaryPath,
  withTempDir,
} from "../../src/files/scratch.ts";
import { lockFile } from "../../src/files/shared-files.ts";
import { Interrupt } from "../../src/interruption.ts";
import { withOutput, withOutputFolder } from "../../src/files/output-file.ts";
import { scratchDir } from "../support/scratch.ts";

/** The mark of a process of this machine that has ended. */
function deadMark(ending: "tmp" | "lock" = "tmp"): string {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  return ownerMark(ending).replace(`.${process.pid}-`, `.${pid}-`);
}

/** A mark of another machine. */
function foreignMark(): string {
  return ownerMark("tmp").replace(/-[\da-z]{7}-/, "-0000000-");
}

describe("a temporary name", () => {
  it("is abandoned when its process is gone, and not before", () => {
    const now = Date.now();
    expect(isAbandoned(`.map${deadMark()}`, now)).toBe(true);
    expect(isAbandoned(`.map${ownerMark("tmp")}`, 0)).toBe(false);
    const parent = ownerMark("tmp").replace(`.${process.pid}-`, `.${process.ppid}-`);
    expect(isAbandoned(`.map${parent}`, 0)).toBe(false);
    // An earlier process with the same number, as in containers.
    const earlier = ownerMark("tmp").replace(/-[\da-z]{12}\./, "-000000000000.");
    expect(isAbandoned(`.map${earlier}`, now)).toBe(true);
    expect(isAbandoned("map.ukvs", 0)).toBe(false);
    expect(isAbandoned(".map.123-abc.tmp", 0)).toBe(false);
  });

  it("of another machine is abandoned when nothing was done with it for a week", () => {
    const day = 24 * 3600 * 1000;
    expect(isAbandoned(`.map${foreignMark()}`, Date.now() - 6 * day)).toBe(false);
    expect(isAbandoned(`.map${foreignMark()}`, Date.now() - 8 * day)).toBe(true);
  });

  it.each(["a", "x".repeat(255), "é".repeat(127), "𝒳".repeat(63)])(
    "fits wherever %s does",
    async (name) => {
      const folder = scratchDir();
      writeFileSync(join(folder, name), "old");
      await withOutput(join(folder, name), { stdout: process.stdout }, (output) =>
        output.write(Buffer.from("new")),
      );
      expect(readdirSync(folder)).toEqual([name]);
      const unlock = await lockFile(join(folder, name));
      await expect(lockFile(join(folder, name))).rejects.toMatchObject({ code: "MM_IO" });
      unlock();
    },
  );
});

describe("what a killed process left", () => {
  const living = `.other.ukvs${ownerMark("tmp")}`;

  function litter(folder: string): void {
    writeFileSync(join(folder, `.map.ukvs${deadMark()}`), "half");
    const scratch = join(folder, `mementomap${deadMark()}`);
    mkdirSync(scratch);
    writeFileSync(join(scratch, "run-1"), "x");
    writeFileSync(join(folder, living), "at work");
    writeFileSync(join(folder, ".map.tmp"), "somebody's");
  }
  const left = [".map.tmp", living].sort();

  const write = async (): Promise<undefined> => undefined;
  it.each<[string, (folder: string) => Promise<unknown>, string[]]>([
    [
      "output in the folder",
      (folder) => withOutput(join(folder, "map.ukvs"), { stdout: process.stdout }, write),
      ["map.ukvs"],
    ],
    [
      "folder of pages beside it",
      (folder) => withOutputFolder(join(folder, "pages"), {}, write),
      ["pages"],
    ],
    ["scratch folder beside it", (folder) => withTempDir({ parent: folder }, write), []],
  ])("is removed by the next %s", async (_what, make, made) => {
    const folder = scratchDir();
    litter(folder);
    await make(folder);
    expect(readdirSync(folder).sort()).toEqual([...left, ...made]);
  });

  it("stays where it cannot be read or removed", async () => {
    await expect(removeAbandoned(join(scratchDir(), "none"))).resolves.toBeUndefined();
  });

  it.skipIf(process.getuid?.() !== 0)("stays where another user has left it", async () => {
    const folder = scratchDir();
    const path = join(folder, `.map${deadMark()}`);
    writeFileSync(path, "");
    spawnSync("chown", ["12345", path]);
    await removeAbandoned(folder);
    expect(existsSync(path)).toBe(true);
  });

  it("of another machine goes when it is old", async () => {
    const folder = scratchDir();
    const [young, old] = [foreignMark(), foreignMark()].map((mark) => join(folder, `.map${mark}`));
    for (const path of [young, old]) writeFileSync(path ?? "", "");
    utimesSync(old ?? "", 1, 1);
    await removeAbandoned(folder);
    expect(readdirSync(folder)).toEqual([basename(young ?? "")]);
  });
});

describe("lockFile", () => {
  it("lets one in at a time", async () => {
    const path = join(scratchDir(), "index.cdxj");
    const unlock = await lockFile(path);
    await expect(lockFile(path)).rejects.toMatchObject({
      code: "MM_IO",
      position: { source: path },
      message: expect.stringContaining("another run"),
    });
    unlock();
    (await lockFile(path))();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  it("never lets two in that come at the same moment", async () => {
    const path = join(scratchDir(), "index.cdxj");
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFile(path)));
    const inside = tries.filter(({ status }) => status === "fulfilled");
    expect(inside.length).toBeLessThanOrEqual(1);
  });

  it("goes by names, not by what they begin with", async () => {
    const folder = scratchDir();
    const names = ["index", "index.cdxj", "index.cdxj.gz"];
    for (const name of names) {
      const unlock = await lockFile(join(folder, name));
      for (const other of names) {
        if (other !== name) (await lockFile(join(folder, other)))();
      }
      expect(readdirSync(folder)).toHaveLength(1);
      unlock();
    }
  });

  it("takes over from a process that was killed", async () => {
    const path = join(scratchDir(), "index.cdxj");
    writeFileSync(join(path, "..", `.index.cdxj${deadMark("lock")}`), "");
    (await lockFile(path))();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  it("is given back on interruption", async () => {
    const path = join(scratchDir(), "index.cdxj");
    const interrupt = new Interrupt();
    await lockFile(path, interrupt);
    interrupt.cleanUp();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  it("says where no lock can be made", async () => {
    const path = join(scratchDir(), "none", "index.cdxj");
    await expect(lockFile(path)).rejects.toMatchObject({ position: { source: path } });
  });

  it("is a temporary name of the file", () => {
    expect(basename(temporaryPath("/x/map", "lock"))).toMatch(/^\.map\.\d+-.{7}-.{12}\.lock$/);
  });
});

describe("withTempDir", () => {
  it("removes the folder and all in it after use", async () => {
    const parent = scratchDir();
    const result = await withTempDir({ parent }, async (path) => {
      writeFileSync(join(path, "run-1"), "x");
      return readdirSync(parent).length;
    });
    expect(result).toBe(1);
    expect(readdirSync(parent)).toEqual([]);
  });

  it("removes it after a failure", async () => {
    const parent = scratchDir();
    const failing = withTempDir({ parent }, async (path) => {
      writeFileSync(join(path, "run-1"), "x");
      throw new Error("the input is bad");
    });
    await expect(failing).rejects.toThrow("the input is bad");
    expect(readdirSync(parent)).toEqual([]);
  });

  it("removes it when interrupted", async () => {
    const parent = scratchDir();
    const interrupt = new Interrupt();
    await withTempDir({ parent, interrupt }, async (path) => {
      interrupt.cleanUp();
      expect(existsSync(path)).toBe(false);
    });
  });

  it("names a parent that does not exist", async () => {
    const parent = join(scratchDir(), "none");
    await expect(withTempDir({ parent }, () => Promise.resolve())).rejects.toMatchObject({
      code: "MM_IO",
      position: { source: parent },
    });
  });
});

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
