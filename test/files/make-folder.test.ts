import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../src/files/make-folder.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

describe("makeFolder", () => {
  it("makes a folder and those above it, also when several do at the same time", async () => {
    const folder = join(scratchDir(), "a", "b", "c");
    await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(folder, "d"))]);
    expect(readdirSync(folder)).toEqual(["d"]);
    await makeFolder(folder);
    expect(readdirSync(folder)).toEqual(["d"]);
  });

  it("refuses a place that a file has, and one below a file", async () => {
    const file = join(scratchDir(), "file");
    writeFileSync(file, "");
    for (const path of [file, join(file, "below")]) {
      await expect(makeFolder(path)).rejects.toMatchObject({ code: "MM_IO" });
    }
  });

  // Node's own recursive mkdir goes on for ever there.
  it.skipIf(!existsSync("/proc/self"))("refuses a file system without new folders", async () => {
    await expect(makeFolder("/proc/none/such")).rejects.toMatchObject({ code: "MM_IO" });
    const list = join(scratchDir(), "list.json");
    writeFileSync(list, '[{"id":"a","timemap":"http://127.0.0.1:9/"}]');
    for (const option of ["--state"]) {
      const asked = ["aggregate", "http://a.com/", "-a", list, option, "/proc/none"];
      const { code, stderr } = await runCli(asked);
      expect({ option, code }).toEqual({ option, code: 2 });
      expect(stderr).toContain("/proc/none: cannot create a folder in /proc");
    }
  });
});
