import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { spawnCli, spawnShell } from "../support/spawn-cli.ts";
import { until } from "../support/until.ts";

describe.skipIf(process.platform === "win32")("the process", () => {
  it("ends with the status of the answer", async () => {
    const folder = scratchDir();
    writeFileSync(join(folder, "map.ukvs"), "org,example)/* 12\n");
    const result = await spawnShell(
      `cd '${folder}'
       mementomap lookup map.ukvs https://example.org/; echo $?
       mementomap lookup map.ukvs https://example.net/; echo $?
       mementomap lookup none.ukvs https://example.net/; echo $?`,
    );
    expect(result.stdout).toBe(
      "https://example.org/\tpresent\torg,example)/*\t12\t1\n0\n" +
        "https://example.net/\tabsent\t-\t-\t-\n1\n2\n",
    );
    expect(result.stderr).toBe(
      "mementomap: none.ukvs: no such file or folder; check the path [MM_IO]\n",
    );
  });

  it("ends quietly when the reader of a pipe has seen enough", async () => {
    const result = await spawnShell(
      `mementomap sample --lines 200000 | head -n 1 | wc -l; echo "\${PIPESTATUS[@]}"`,
    );
    expect(result.stderr).toBe("");
    expect(result.stdout.replaceAll(" ", "")).toBe("1\n000\n");
  });

  it("reads standard input only when it needs it", async () => {
    // The pipe stays open: a process that waited for it would not end.
    const { child, done } = spawnCli(["surt", "https://example.org/"]);
    expect(await done).toMatchObject({ code: 0, stdout: "org,example)/\n" });
    child.stdin?.end();
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "stops on %s with status 130 and leaves no file behind",
    async (signal) => {
      const folder = scratchDir();
      const { child, done } = spawnCli([
        "sample",
        "--lines",
        "50000000",
        "-o",
        join(folder, "x.cdxj"),
      ]);
      await until(() => readdirSync(folder).length > 0);
      child.kill(signal);
      expect(await done).toMatchObject({
        code: 130,
        signal: null,
        stdout: "",
        stderr: `mementomap: stopped by ${signal} [MM_INTERRUPTED]\n`,
      });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it("says that the disk is full", async () => {
    const result = await spawnShell("mementomap sample --lines 100 -o /dev/full");
    expect(result).toMatchObject({
      code: 2,
      stderr:
        "mementomap: /dev/full: no space left on the device; free some or choose another place [MM_IO]\n",
    });
  });
});

describe("the program as it is packed", () => {
  it("reads the relaxed headers of older maps, by a reader that is loaded late", async () => {
    const map = join(scratchDir(), "older.ukvs");
    writeFileSync(map, '!fields {keys: ["surt"], values: ["frequency"]}\ncom,a)/ 3\n');
    const { done } = spawnCli(["lookup", map, "http://a.com/"]);
    expect(await done).toMatchObject({
      code: 0,
      stdout: "http://a.com/\tpresent\tcom,a)/\t3\t0\n",
    });
  });
});
