import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { warcRecord } from "../support/warc-fixture.ts";
import { output, program } from "./programs.ts";

const warcio = program("warcio");

interface StoredRecord {
  readonly offset: string;
  readonly length: string;
  readonly "warc-target-uri": string;
}

function rowsIn(map: string): string[] {
  return map.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

describe.skipIf(warcio === undefined)("a WARC file of warcio with one damaged record", () => {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-peers-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("gives the captures of all others", async () => {
    const uris = Array.from({ length: 50 }, (_, i) => `http://example.com/${i}`);
    const records = uris.map((uri, i) =>
      warcRecord({
        type: "response",
        uri,
        http: "HTTP/1.1 200 OK\nContent-Type: text/html",
        body: Array.from({ length: i * i * 40 }, (_, n) => String((n * n) % 9973)).join(" "),
      }),
    );
    const path = join(folder, "crawl.warc.gz");
    writeFileSync(join(folder, "crawl.warc"), Buffer.concat(records));
    await output(warcio ?? "", ["recompress", join(folder, "crawl.warc"), path], folder);
    const fields = "offset,length,warc-target-uri";
    const index = await output(warcio ?? "", ["index", "-f", fields, path], folder);
    const stored = index
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as StoredRecord);
    expect(stored.map((record) => record["warc-target-uri"])).toEqual(uris);
    const whole = readFileSync(path);
    const all = rowsIn((await runCli(["generate", "-q", path])).stdout);
    expect(all).toHaveLength(50);
    for (const i of [0, 1, 25, 40, 49]) {
      const harmed = Buffer.from(whole);
      const middle = Number(stored[i].offset) + (Number(stored[i].length) >> 1);
      harmed[middle] ^= 0x55;
      const damaged = join(folder, `damaged-${i}.warc.gz`);
      writeFileSync(damaged, harmed);
      const { code, stdout, stderr } = await runCli(["generate", "--skip-bad", "--json", damaged]);
      expect(code).toBe(0);
      expect(rowsIn(stdout)).toEqual(all.filter((row) => row !== `com,example)/${i} 1`));
      const summary: unknown = JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
      expect(summary).toMatchObject({ damaged: 1, damagedBytes: Number(stored[i].length) });
    }
  });
});
