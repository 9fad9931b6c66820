import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliResult, runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const LOOKUPS = Array.from({ length: 600 }, (_, i) => `http://h${(i * i) % 13}.org/${i % 5}/${i}`);

/** Archives that hold hosts, as lists of URIs and a map. */
function files(): { folder: string; list: string; stream: string } {
  const folder = scratchDir();
  const [list, stream] = [join(folder, "archives.json"), join(folder, "lookups.tsv")];
  const held = LOOKUPS.filter((uri) => uri.includes("h1.org") || uri.includes("h4.org"));
  writeFileSync(join(folder, "held.txt"), `${held.join("\n")}\n`);
  writeFileSync(join(folder, "held.ukvs"), "org,h9)/* 9\n");
  const pages = LOOKUPS.filter((_, i) => i % 5 === 0);
  writeFileSync(join(folder, "pages.txt"), `${pages.join("\n")}\n`);
  writeFileSync(join(folder, "dead.txt"), "http://elsewhere.example/\n");
  writeFileSync(
    list,
    JSON.stringify([
      { id: "index", holdings: "held.txt" },
      { id: "map", holdings: "held.ukvs", mementomap: "held.ukvs" },
      { id: "pages", holdings: "pages.txt" },
      { id: "dead", holdings: "dead.txt" },
    ]),
  );
  const lines = LOOKUPS.map((uri, i) => `2020-01-0${1 + (i % 9)}T00:00:00Z\t${uri}\n`);
  writeFileSync(stream, lines.join(""));
  return { folder, list, stream };
}

function simulate(...args: readonly string[]): Promise<CliResult> {
  return runCli(["simulate", "-q", ...args]);
}

describe("mementomap simulate", () => {
  it("runs policies side by side on holdings", async () => {
    const { list, stream, folder } = files();
    const html = join(folder, "report.html");
    const args = ["--archives", list, "--lookups", stream, "--json", "--html", html];
    const names = ["broadcast", "maps", "learner", "both", "oracle"];
    const chosen = names.flatMap((name) => ["--policy", name]);
    const { stdout, code, stderr } = await simulate(...args, ...chosen, "--recall", "0.9");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { policies, lookups, archives } = JSON.parse(stdout);
    expect({ lookups, archives }).toEqual({ lookups: 600, archives: 4 });
    const [broadcast, maps, learner, , oracle] = policies;
    const held = LOOKUPS.filter((uri) => /h[149]\.org/.test(uri)).length;
    expect(broadcast.total).toMatchObject({ requests: 2400, broadcast: 2400 });
    expect(broadcast.total.keptHits).toBe(broadcast.total.hits);
    expect(broadcast.total.hits).toBeGreaterThan(held);
    expect(maps.total.requests).toBeLessThan(2400);
    expect(maps.total.keptHits).toBe(maps.total.hits);
    expect(oracle.total).toMatchObject({ requests: oracle.total.hits, keptHits: maps.total.hits });
    expect(learner.policy).toBe("learner 0.9");
    expect(learner.total.requests).toBeLessThan(1800);
    expect(learner.learning.promised).toBe(0.9);
    expect(readFileSync(html, "utf8")).toContain("Requests saved");
  });

  it("marks how long a TLD profile is trained, and skips archives on a short stream", async () => {
    const { list, stream } = files();
    const args = ["--archives", list, "--lookups", stream, "--json", "--policy", "tld"];
    const { stdout } = await simulate(...args);
    const [tld] = JSON.parse(stdout).policies;
    expect(tld.policy).toBe("tld profile of 60");
    // The dead archive is not queried any more after 60 of 600 lookups.
    expect(tld.total.requests).toBe(600 * 3 + 60);
    expect(tld.total.keptHits).toBe(tld.total.hits);
  });

  it("has tables in which no name is cut, and no line is longer than 80 columns", async () => {
    const { list, stream } = files();
    const args = ["--archives", list, "--lookups", stream];
    const recalls = ["0.95", "0.98", "0.995"];
    const chosen = ["--policy", "learner", "--policy", "both"];
    const { stdout } = await simulate(
      ...args,
      ...chosen,
      ...recalls.flatMap((r) => ["--recall", r]),
    );
    const policies = recalls.flatMap((recall) => [
      `learner ${recall}`,
      `learner and maps ${recall}`,
    ]);
    const mentions = policies.map((policy) => [
      policy,
      stdout.split(new RegExp(`${policy}\\b`)).length - 1,
    ]);
    // What it asked, and over time: what it saved and what it found.
    for (const [, count] of mentions) expect(count).toBeGreaterThanOrEqual(3);
    expect(stdout).not.toContain("…");
    const widths = stdout.split("\n").map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(80);
  });

  it("gives the same for the same seed, and reads logs", async () => {
    const { list, folder } = files();
    const log = join(folder, "memgator.log");
    const line = (uri: string): string =>
      `INFO: 2016/06/09 12:00:00 Aggregating Mementos for ${uri}\n`;
    writeFileSync(log, LOOKUPS.map(line).join(""));
    const args = ["--archives", list, "--lookups", log];
    const first = await simulate(...args);
    expect(first.stdout).toMatch(/^Archives +4\nLookups +600\nOriginals +600\n/);
    expect((await simulate(...args)).stdout).toBe(first.stdout);
  });

  it("says what is wrong with the list, the stream or the policy", async () => {
    const { list, stream, folder } = files();
    const bad = join(folder, "bad.json");
    const fault = async (...args: readonly string[]): Promise<string> => {
      const { code, stderr } = await simulate(...args);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await fault("--archives", list)).toContain("--lookups");
    writeFileSync(bad, `[{"id": "a"}]`);
    expect(await fault("--archives", bad, "--lookups", stream)).toContain(`has no "holdings"`);
    writeFileSync(bad, "\n\n");
    expect(await fault("--archives", list, "--lookups", bad)).toContain("no lookups");
    const all = ["--archives", list, "--lookups", stream];
    expect(await fault(...all, "--policy", "guess")).toContain(`unknown policy "guess"`);
    const counted = "--skip 600 leaves no lookups to count: there are 600 distinct originals";
    expect(await fault(...all, "--skip", "600")).toContain(counted);
    writeFileSync(bad, `[{"id": "a", "holdings": "held.txt"}]`);
    const withoutMaps = ["--archives", bad, "--lookups", stream, "--policy", "maps"];
    expect(await fault(...withoutMaps)).toContain('need a "mementomap"');
  });
});
