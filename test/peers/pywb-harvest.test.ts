import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { harvestIndex } from "../../src/harvest/harvest-index.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { freePort, program, startServer } from "./programs.ts";

const wayback = program("wayback");
/** pywb sends 100,000 rows unless asked for more, and does not say that there are more. */
const ROWS = 100_500;
const FAST = { intervalMs: 0 };
const QUERIES = [{ url: "example.com", match: "domain" as const }];

function makeIndex(count: number): string {
  const years = ["2014", "2015", "2016"];
  return Array.from({ length: count }, (_, i) => {
    const page = `p${String(Math.floor(i / 3)).padStart(6, "0")}`;
    const day = String((i % 28) + 1).padStart(2, "0");
    return `com,example)/${page} ${years[i % 3]}01${day}000000 {"url": "http://example.com/${page}", "mime": "text/html", "status": "200", "filename": "a.warc.gz"}\n`;
  }).join("");
}

describe.skipIf(wayback === undefined)("harvest of pywb", () => {
  async function start(
    config: string,
    rows: number,
  ): Promise<{ readonly url: string; readonly folder: string }> {
    const folder = scratchDir();
    const indexes = join(folder, "collections/web/indexes");
    for (const name of ["indexes", "archive"]) {
      mkdirSync(join(folder, "collections/web", name), { recursive: true });
    }
    writeFileSync(join(indexes, "index.cdxj"), makeIndex(rows));
    writeFileSync(join(folder, "config.yaml"), config);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const args = ["-p", String(port), "-b", "127.0.0.1", "-t", "2"];
    const pywb = await startServer(wayback ?? "", args, folder, `${url}/`);
    onTestFinished(() => {
      pywb.stop();
    });
    return { url, folder };
  }

  /** The key and datetime of each row, sorted. */
  function places(text: string): string[] {
    const rows = text.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
    return rows.map((line) => line.split(" ", 2).join(" ")).toSorted();
  }

  it("gets more rows than pywb sends by default, and asks little to find out how", async () => {
    const { url, folder } = await start("debug: false\n", ROWS);
    const target = join(folder, "fetched.cdxj");
    let read = 0;
    const summary = await harvestIndex(`${url}/web/cdx`, QUERIES, target, {
      ...FAST,
      onRead: (bytes) => (read += bytes),
    });
    expect(summary).toMatchObject({ lines: ROWS, requests: 3, sampleReason: undefined });
    expect(places(readFileSync(target, "utf8"))).toEqual(places(makeIndex(ROWS)));
    expect(read - summary.bytes).toBeLessThan(1000);
  });

  it("says that rows are missing where pywb is told to send few", async () => {
    const { url, folder } = await start("query_limit: 1000\n", 4000);
    const target = join(folder, "fetched.cdxj");
    const summary = await harvestIndex(`${url}/web/cdx`, QUERIES, target, FAST);
    expect(summary).toMatchObject({ lines: 1000, sampleReason: expect.any(String) as string });
  });

  it("refuses a collection that is not there, and its page in HTML", async () => {
    const { url, folder } = await start("debug: false\n", 10);
    const words = ["--url", "example.com", "--interval", "0", "-o", join(folder, "none.cdxj")];
    const misspelt = await runCli(["harvest", `${url}/wbe/cdx`, ...words]);
    expect(misspelt.code).toBe(2);
    expect(misspelt.stderr).toMatch(/check the collection/);
    const page = await runCli(["harvest", `${url}/web/`, ...words]);
    expect(page.code).toBe(2);
    expect(page.stderr).toContain(`HTML`);
    expect(page.stderr).toContain(`perhaps ${url}/web/cdx`);
  });
});
