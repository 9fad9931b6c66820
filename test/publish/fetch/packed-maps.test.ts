import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openMap } from "../../../src/node.ts";
import { FetchClient } from "../../../src/http/http-client.ts";
import { openRemoteMap } from "../../../src/publish/fetch/remote-map.ts";
import { parseHead } from "../../../src/packed/packed-file.ts";
import { fileServer } from "../../support/file-server.ts";
import { packedBytes } from "../../support/packed-file.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { EXAMPLE_MAP, serving, type Serving } from "../../support/serving.ts";

const LARGER = `${EXAMPLE_MAP}uk,co,cnn)/ 4\nuk,co,cnn)/a 4\n`;

async function servingBoth(): Promise<Serving & { readonly bytes: Uint8Array }> {
  const bytes = await packedBytes();
  const packed = join(scratchDir(), "map.packed");
  writeFileSync(packed, bytes);
  return { ...(await serving(EXAMPLE_MAP, {}, packed)), bytes };
}

describe("fetch, of packed maps", () => {
  it("takes one where the server has nothing else, and asks whether it changed", async () => {
    const bytes = await packedBytes();
    const { url } = await serving(bytes);
    const target = join(scratchDir(), "copy.packed");
    const fetched = await runCli(["fetch", url, "-o", target, "--json"]);
    expect(fetched.code).toBe(0);
    expect(readFileSync(target).equals(bytes)).toBe(true);
    const again = await runCli(["fetch", url, "-o", target]);
    expect(again.stderr).toMatch(/^unchanged: /);
    expect((await runCli(["validate", "-q", target])).code).toBe(0);
  });

  it("chooses the form by --packed, also over a file of the other form", async () => {
    const { url, bytes } = await servingBoth();
    const target = join(scratchDir(), "copy");
    for (const [form, content] of [
      [[], Buffer.from(EXAMPLE_MAP)],
      [["--packed"], bytes],
      [["--packed"], bytes],
      [[], Buffer.from(EXAMPLE_MAP)],
    ] as const) {
      const { code } = await runCli(["fetch", "-q", url, "-o", target, ...form]);
      expect([form, code, readFileSync(target).equals(content)]).toEqual([form, 0, true]);
    }
    const text = await serving(EXAMPLE_MAP);
    await runCli(["fetch", "-q", text.url, "-o", target, "--packed", "--force"]);
    expect(readFileSync(target, "utf8")).toBe(EXAMPLE_MAP);
  });

  it("keeps the old file where the new one is damaged, cut or has lost much", async () => {
    const [good, small] = await Promise.all([packedBytes(LARGER), packedBytes("com,a)/ 1\n")]);
    const damaged = good.slice();
    damaged[damaged.length - 1] ^= 1;
    const { url, files } = await fileServer([["/map", good]]);
    const target = join(scratchDir(), "copy.packed");
    const fetchMap = ["fetch", "-q", "--direct", `${url}/map`, "-o", target];
    expect((await runCli(fetchMap)).code).toBe(0);
    for (const [content, message] of [
      [damaged, /damaged: shard.*MM_BAD_INPUT/],
      [good.subarray(0, good.length - 4), /cut short.*MM_CUT/],
      [small, /the current one is kept.*MM_SHRUNK/],
    ] as const) {
      files.set("/map", content);
      const { code, stderr } = await runCli([...fetchMap, "--max-shrink", "50%"]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
      expect(readFileSync(target).equals(good)).toBe(true);
    }
    expect((await runCli([...fetchMap, "--force"])).code).toBe(0);
    expect(readFileSync(target).equals(small)).toBe(true);
  });
});

describe("a lookup in a packed map on a server", () => {
  it("reads the head, and then only the parts that are needed", async () => {
    const hosts = Array.from({ length: 30_000 }, (_, i) => `com,h${String(i).padStart(6, "0")}`);
    const text = hosts.map((host) => `${host})/ 1\n${host})/a 2\n`).join("");
    const bytes = await packedBytes(`!fields {"keys":["surt"],"values":["frequency"]}\n${text}`, {
      bits: 8,
    });
    const { shards } = parseHead(bytes, bytes.length, "");
    expect(shards.length).toBeGreaterThan(4);
    const { url } = await serving(bytes);
    const map = await openRemoteMap(new FetchClient(), `${url}/.well-known/mementomap`);
    expect(map.source).toMatchObject({ traffic: { requests: 1 }, size: bytes.length });
    expect(await map.lookup.lookup("http://h000017.com/a")).toMatchObject({
      present: true,
      distance: 0,
    });
    const { requests } = map.source.traffic;
    expect(requests).toBeLessThanOrEqual(3);
    await map.lookup.lookup("http://h000017.com/a");
    expect(map.source.traffic.requests).toBe(requests);
    expect(map.source.traffic.bytes).toBeLessThan(bytes.length);
  });

  it("is answered by fetch --lookup and openMap", async () => {
    const { url, bytes } = await servingBoth();
    const ask = ["fetch", url, "--lookup", "https://arxiv.org/"];
    expect(await runCli(ask)).toMatchObject({
      code: 0,
      stdout: "https://arxiv.org/\tpresent\torg,arxiv)/\t100\t0\n",
    });
    const packed = await runCli([...ask, "--packed"]);
    expect(packed.stdout).toMatch(/^https:\/\/arxiv\.org\/\tpresent\torg,arxiv\)\/\t\d*[-/]\t0\n$/);
    expect(packed.stderr).toMatch(/^1 request for the map, 1\.\d kB of 1\.\d kB\n$/);
    const { url: only } = await serving(bytes);
    const map = await openMap(`${only}/.well-known/mementomap`);
    expect(map.headers.meta["name"]).toBe("Example Archive");
    expect(await map.has("https://arxiv.org/a")).toBe(true);
    expect(await map.has("https://nobody.example/")).toBe(false);
    await expect(map.rows().next()).rejects.toThrow("packed map, which has no rows");
    await map.close();
  });
});
