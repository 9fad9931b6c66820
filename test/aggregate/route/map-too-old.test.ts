import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateProcess, writeList } from "../../support/aggregate-process.ts";
import { plainArchive } from "../../support/aggregating.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { scriptedServer } from "../../support/scripted-server.ts";

const DAY_MS = 86_400_000;
const head = (updatedAt: number): string =>
  `!fields {"keys":["surt"],"values":["frequency"]}\n!meta {"type":"MementoMap","updated_at":"${new Date(updatedAt).toISOString()}"}\n`;

async function reasons(map: string, ...more: string[]): Promise<string> {
  const one = await plainArchive("one", []);
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, map);
  const list = writeList([one]);
  const { stdout } = await runCli([
    "route",
    "http://example.org/",
    "-a",
    list,
    "--map",
    `one=${path}`,
    "--json",
    ...more,
  ]);
  const { archives } = JSON.parse(stdout) as { archives: { asked: boolean; reason: string }[] };
  return archives.map(({ asked, reason }) => `${asked ? "+" : "-"}${reason}`).join();
}

describe("a map that is too old", () => {
  it("is not believed by default, and the reason says so", async () => {
    const old = `${head(Date.now() - 91 * DAY_MS)}com,* 5\n`;
    expect(await reasons(old)).toBe("+old-map");
    expect(await reasons(old, "--map-age", "92d")).toBe("-not-in-map");
    expect(await reasons(old, "--map-age", "off")).toBe("-not-in-map");
    expect(await reasons(`${head(Date.now() - 89 * DAY_MS)}com,* 5\n`)).toBe("-not-in-map");
    expect(await reasons(`${head(0)}org,* 5\n`)).toBe("+in-map");
  });

  it("is called too old in the table, not missing", async () => {
    const one = await plainArchive("one", []);
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, `${head(0)}com,* 5\n`);
    const args = ["route", "http://example.org/", "-a", writeList([one]), "--map", `one=${path}`];
    expect((await runCli(args)).stdout).toContain("map is too old");
  });
});

describe("SIGHUP", () => {
  it.skipIf(process.platform === "win32")(
    "has maps fetched again, and one that is unchanged counts as new",
    async () => {
      let rows = "com,* 5\n";
      const server = await scriptedServer((request, response) => {
        const body = `${head(0)}${rows}`;
        const etag = `"${rows.length}"`;
        const isSame = request.headers["if-none-match"] === etag;
        const headers = {
          ETag: etag,
          "Content-Type": "text/plain",
          "Cache-Control": "max-age=86400",
        };
        response.writeHead(isSame ? 304 : 200, headers).end(isSame ? undefined : body);
      });
      const one = await plainArchive("one", []);
      const { url, kill } = await aggregateProcess([
        "--archives",
        writeList([one]),
        "--map",
        `one=${server.url}/map.ukvs`,
        "--allow-private",
        "--sample",
        "0",
      ]);
      const reason = async (): Promise<unknown> => {
        const found = await (await fetch(`${url}/route/http://example.org/`)).json();
        return (found as { archives: { reason: string }[] }).archives[0]?.reason;
      };
      // Made long ago, but its archive says today that this is its map.
      await expect.poll(reason).toBe("not-in-map");
      rows = "org,* 5\norg,example)/ 1\n";
      kill("SIGHUP");
      await expect.poll(reason).toBe("in-map");
    },
  );
});
