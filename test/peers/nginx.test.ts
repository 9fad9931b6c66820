import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchMap } from "../../src/publish/fetch/fetch-map.ts";
import { rawGet } from "../support/raw-http.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { copiesReady, EXAMPLE_MAP, serving } from "../support/serving.ts";
import { startNginx } from "./nginx.ts";
import { program } from "./programs.ts";

const MAP = EXAMPLE_MAP.replace("https://archive.example.org/", "http://127.0.0.1/");

/** What the checker finds, without the rule about the name of the archive: a test has a port. */
async function faults(url: string): Promise<unknown[]> {
  const { stdout } = await runCli(["validate", "--url", url, "--json", "-q"]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { rule: string; outcome: string; message: string })
    .filter(({ rule, outcome }) => rule !== "P3" && outcome !== "ok")
    .map(({ rule, outcome, message }) => [rule, outcome, message]);
}

describe.skipIf(program("nginx") === undefined)("nginx", () => {
  it("in front of serve changes nothing of what clients get", async () => {
    const served = await serving(MAP, { pageRecords: 2 });
    await copiesReady(served);
    const { port } = new URL(served.url);
    const url = await startNginx("proxy", { ":8081": `:${port}` });
    expect(await faults(url)).toEqual([]);
    const target = join(scratchDir(), "map.ukvs");
    expect(await fetchMap(url, target)).toMatchObject({ status: "fetched", method: "well-known" });
    expect(await fetchMap(url, target)).toMatchObject({ status: "unchanged" });
    expect(readFileSync(target, "utf8")).toBe(MAP);
    const uri = "http://e.com//a/../b?x=%2F%7E&y";
    expect(await rawGet(url, `/lookup?url=${uri}`)).toContain(JSON.stringify(uri));
    const body = "http://arxiv.org/\n".repeat(50_000);
    const answers = await (await fetch(`${url}/lookup`, { method: "POST", body })).text();
    expect(answers.split("\n")).toHaveLength(50_001);
  });

  it("serves a folder of page with the same meaning", async () => {
    const folder = scratchDir();
    writeFileSync(join(folder, "map.ukvs"), MAP);
    const site = join(folder, "site");
    await runCli(["page", join(folder, "map.ukvs"), "-o", site, "-q"]);
    const url = await startNginx("files", { "/srv/site": site });
    expect(await faults(url)).toEqual([["P15", "skipped", "the map is not offered in pages"]]);
    const target = join(folder, "fetched.ukvs");
    expect(await fetchMap(url, target)).toMatchObject({ status: "fetched", method: "well-known" });
    expect(await fetchMap(url, target)).toMatchObject({ status: "unchanged" });
    expect(readFileSync(target, "utf8")).toBe(MAP);
    const lookup = await runCli(["fetch", url, "--lookup", "http://arxiv.org/", "-q"]);
    expect(lookup).toMatchObject({ code: 0 });
  });
});
