import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import { loadArchives } from "../../src/aggregate/route/archive-list.ts";
import { AGGREGATE_OPTIONS, type AggregateValues } from "../../src/cli/common/aggregate-options.ts";
import { AggregateReload } from "../../src/cli/common/aggregate-reload.ts";
import { optionValues, splitCommandLine } from "../../src/cli/common/command-line.ts";
import { serveOnLoopback } from "../support/http-server.ts";
import { testIo } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

interface Reloaded {
  readonly reload: AggregateReload;
  /** The ids of the archives in use. */
  readonly ids: () => string;
  /** The reasons of errors in the log. */
  readonly reasons: string[];
}

/** Goes by a list, looked at every few milliseconds. */
async function reloading(
  list: string,
  replacing: (archives: readonly Archive[]) => void = () => undefined,
): Promise<Reloaded> {
  const typed = splitCommandLine("aggregate", AGGREGATE_OPTIONS, ["-a", list]);
  // What every command has is left out.
  const reread = (): AggregateValues =>
    optionValues(AGGREGATE_OPTIONS, typed, []) as unknown as AggregateValues;
  let archives: readonly Archive[] = await loadArchives(list);
  const reasons: string[] = [];
  const { io } = testIo();
  const reload = new AggregateReload(
    {
      values: reread(),
      reread,
      archives,
      replaceArchives: async (next) => {
        replacing(next);
        archives = next;
      },
      log: {
        event: (level, _message, more) =>
          level === "error" && reasons.push(String(more?.["reason"])),
      },
      checkEveryMs: 5,
      webListEveryMs: 1,
    },
    io,
  );
  onTestFinished(() => reload.stop());
  await reload.start();
  return { reload, ids: () => archives.map(({ id }) => id).join(" "), reasons };
}

function listText(...ids: readonly string[]): string {
  return JSON.stringify(ids.map((id) => ({ id, timemap: `http://${id}.example/` })));
}

describe("AggregateReload", () => {
  it("reads a list on the Web by the clock", async () => {
    let text = listText("a");
    const site = await serveOnLoopback((_url, response) => void response.end(text));
    const { ids, reload } = await reloading(`${site}/archives.json`);
    text = listText("a", "b");
    await expect.poll(ids).toBe("a b");
    expect(reload.state.error).toBeUndefined();
  });

  it("reads a file when it changes, is replaced, or goes and comes back", async () => {
    const path = join(scratchDir(), "archives.json");
    writeFileSync(path, listText("a"));
    const { ids, reasons } = await reloading(path);
    writeFileSync(path, listText("a", "b"));
    await expect.poll(ids).toBe("a b");
    writeFileSync(`${path}.new`, listText("c", "d"));
    renameSync(`${path}.new`, path);
    await expect.poll(ids).toBe("c d");
    rmSync(path);
    await expect.poll(() => reasons.join()).toContain("no such file");
    expect(ids()).toBe("c d");
    writeFileSync(path, listText("e"));
    await expect.poll(ids).toBe("e");
  });

  it("says what is wrong with a list until a good one comes, and tells of it once", async () => {
    const path = join(scratchDir(), "archives.json");
    writeFileSync(path, listText("a"));
    const { ids, reload, reasons } = await reloading(path);
    const { takenAt } = reload.state;
    writeFileSync(path, "{");
    await expect.poll(() => reload.state.error).toContain("not a list of archives");
    await reload.reload();
    expect(ids()).toBe("a");
    expect(reload.state.takenAt).toBe(takenAt);
    expect(reasons).toHaveLength(1);
    writeFileSync(path, listText("b"));
    await expect.poll(ids).toBe("b");
    await expect.poll(() => reload.state.error).toBeUndefined();
  });

  it("logs what should not have happened in its timer, and goes on", async () => {
    const path = join(scratchDir(), "archives.json");
    writeFileSync(path, listText("a"));
    const { ids, reasons } = await reloading(path, ([{ id }]) => {
      if (id === "b") throw new TypeError("a fault in a timer");
    });
    writeFileSync(path, listText("b"));
    await expect.poll(() => reasons.join()).toContain("a fault in a timer");
    writeFileSync(path, listText("c", "d"));
    await expect.poll(ids).toBe("c d");
  });
});
