import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packedBytes } from "../../support/packed-file.ts";
import { EXAMPLE_MAP, serving, type Serving } from "../../support/serving.ts";
import { scratchDir } from "../../support/scratch.ts";

const TYPE = "application/vnd.mementomap.packed";
const URIS = ["https://arxiv.org/", "https://arxiv.org/a/b", "https://nobody.example/"];
const LARGER = `${EXAMPLE_MAP}uk,co,cnn)/ 4\nuk,co,cnn)/a 4\n`;

const mapUrl = ({ url }: Serving): string => new URL("/.well-known/mementomap", url).href;

async function getJson(url: string, init: RequestInit = {}): Promise<unknown> {
  return (await fetch(url, init)).json();
}

describe("a packed map that is published", () => {
  it("comes whole and in part, with its type and tag, never compressed", async () => {
    const bytes = await packedBytes();
    const site = await serving(bytes);
    const whole = await fetch(mapUrl(site), { headers: { "Accept-Encoding": "gzip, zstd" } });
    expect(whole.headers.get("content-type")).toBe(TYPE);
    expect(whole.headers.get("content-encoding")).toBeNull();
    expect(whole.headers.get("link")).toBe(
      `</.well-known/mementomap>; rel="mementomap"; type="${TYPE}"`,
    );
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const etag = whole.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    const same = await fetch(mapUrl(site), { headers: { "If-None-Match": etag } });
    expect(same.status).toBe(304);
    const part = await fetch(mapUrl(site), { headers: { Range: "bytes=8-15" } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(8, 16))).toBe(true);
    expect((await fetch(`${mapUrl(site)}?page=1`)).status).toBe(404);
  });

  it.each([64 * 2 ** 20, 0])("answers lookups, with %d bytes in memory", async (maxIndexBytes) => {
    const text = await serving(EXAMPLE_MAP, { maxIndexBytes });
    const packed = await serving(await packedBytes(), { maxIndexBytes });
    const answers = async ({ url }: Serving): Promise<unknown[]> =>
      Promise.all(URIS.map((uri) => getJson(new URL(`/lookup?url=${uri}`, url).href)));
    const isPresent = (answer: unknown): unknown => (answer as { present: unknown }).present;
    const own = await answers(packed);
    expect(own.map(isPresent)).toEqual((await answers(text)).map(isPresent));
    expect(own[0]).toEqual({
      input: URIS[0],
      present: true,
      key: "org,arxiv)/",
      frequency: expect.any(String),
      distance: 0,
    });
    expect(own[2]).toMatchObject({ present: false, key: null, frequency: null, distance: null });
    const post = { method: "POST", body: URIS.join("\n") };
    const lines = await (await fetch(new URL("/lookup", packed.url), post)).text();
    expect(lines.split("\n").map((line) => line.split("\t")[1])).toEqual([
      "present",
      "present",
      "absent",
      undefined,
    ]);
    const headers = { Accept: "application/x-ndjson" };
    const ndjson = await (await fetch(new URL("/lookup", packed.url), { ...post, headers })).text();
    expect(
      ndjson
        .split("\n")
        .slice(0, 3)
        .map((line) => JSON.parse(line)),
    ).toEqual(own);
  });

  it("is on the page and in /health", async () => {
    const site = await serving(await packedBytes());
    const page = await (await fetch(new URL("/?url=https://arxiv.org/", site.url))).text();
    expect(page).toContain("Example Archive");
    expect(page).toContain(`type="${TYPE}"`);
    const about = await (await fetch(new URL("/about", site.url))).text();
    expect(about).toMatch(/class="badge calm">packed</i);
    expect(about).not.toContain("Keys by domain");
    expect(await getJson(new URL("/health", site.url).href)).toMatchObject({
      status: "ok",
      maps: [{ id: "map", isPacked: true, inMemory: true, pages: 0 }],
    });
    expect((await fetch(new URL("/metrics", site.url))).status).toBe(200);
  });

  it("is replaced by a sound one, and kept where the new one is damaged or has lost much", async () => {
    const larger = await packedBytes(LARGER);
    const site = await serving(await packedBytes());
    const replaceBy = async (content: Uint8Array | string): Promise<boolean> => {
      const before = site.publisher.site.maps[0].current.version;
      writeFileSync(site.path, content);
      await site.publisher.reload();
      return site.publisher.site.maps[0].current.version !== before;
    };
    expect(await replaceBy(larger)).toBe(true);
    expect(await replaceBy(larger.subarray(0, larger.length - 1))).toBe(false);
    expect(site.publisher.site.maps[0].fault).toContain("cut short");
    const damaged = larger.slice();
    damaged[damaged.length - 1] ^= 1;
    expect(await replaceBy(damaged)).toBe(false);
    expect(site.publisher.site.maps[0].fault).toContain("damaged: shard");
    expect(await replaceBy(await packedBytes("com,example)/ 1\n"))).toBe(false);
    expect(site.publisher.site.maps[0].fault).toContain("the new map has 1 records");
    // The form may change.
    expect(await replaceBy(LARGER)).toBe(true);
    expect(await replaceBy(larger)).toBe(true);
  });
});

describe("a map published as text and packed", () => {
  async function both(): Promise<Serving & { packed: string; bytes: Uint8Array }> {
    const bytes = await packedBytes();
    const packed = join(scratchDir(), "map.packed");
    writeFileSync(packed, bytes);
    return { ...(await serving(EXAMPLE_MAP, {}, packed)), packed, bytes };
  }

  it("is chosen by Accept", async () => {
    const site = await both();
    const forms: readonly (readonly [accept: string, isPacked: boolean])[] = [
      ["*/*", false],
      ["application/*", false],
      ["text/plain", false],
      [TYPE, true],
      [`${TYPE.toUpperCase()};q=0.5, */*;q=0.8`, true],
      [`${TYPE};q=0.5, text/plain`, false],
      [`${TYPE};q=0`, false],
      [`${TYPE}, text/plain;q=0.9`, true],
    ];
    for (const [accept, isPacked] of forms) {
      const response = await fetch(mapUrl(site), { headers: { Accept: accept } });
      const type = response.headers.get("content-type");
      expect([accept, type]).toEqual([accept, isPacked ? TYPE : "text/plain; charset=utf-8"]);
      expect(response.headers.get("vary")).toBe("Accept, Accept-Encoding");
      expect(response.headers.get("link")).toBe(
        `</.well-known/mementomap>; rel="mementomap"; type="text/plain", ` +
          `</.well-known/mementomap>; rel="mementomap"; type="${TYPE}"`,
      );
      await response.body?.cancel();
    }
    const page = await fetch(`${mapUrl(site)}?page=1`, { headers: { Accept: TYPE } });
    expect(page.headers.get("content-type")).toMatch(/^text\/plain/);
  });

  it("answers lookups from the text", async () => {
    const site = await both();
    const answer = await getJson(new URL("/lookup?url=https://arxiv.org/a", site.url).href);
    expect(answer).toMatchObject({ key: "org,arxiv)/*", frequency: "2500~/900" });
  });

  it("has each form replaced when its file is, and says what is refused", async () => {
    const site = await both();
    const tagOf = async (accept: string): Promise<string | null> =>
      (await fetch(mapUrl(site), { method: "HEAD", headers: { Accept: accept } })).headers.get(
        "etag",
      );
    const before = [await tagOf("*/*"), await tagOf(TYPE)];
    writeFileSync(site.path, LARGER);
    writeFileSync(site.packed, await packedBytes(LARGER));
    await site.publisher.reload();
    const after = [await tagOf("*/*"), await tagOf(TYPE)];
    expect(new Set([...before, ...after]).size).toBe(4);
    writeFileSync(site.packed, LARGER);
    await site.publisher.reload();
    expect(await tagOf(TYPE)).toBe(after[1]);
    expect(await getJson(new URL("/health", site.url).href)).toMatchObject({
      status: "degraded",
      maps: [
        {
          refused: expect.stringContaining("is not a packed map"),
          packed: { bytes: expect.any(Number), reloads: 1, refusals: 1 },
        },
      ],
    });
  });

  it("has both forms replaced in one step, whichever comes first", async () => {
    const site = await both();
    const tagsOf = async (): Promise<(string | null)[]> =>
      Promise.all(
        ["*/*", TYPE].map(async (accept) => {
          const headers = { Accept: accept, "Accept-Encoding": "identity" };
          const init = { method: "HEAD", headers };
          return (await fetch(mapUrl(site), init)).headers.get("etag");
        }),
      );
    const health = async (): Promise<unknown> => getJson(new URL("/health", site.url).href);
    const packedLarger = await packedBytes(LARGER);
    const [text, packed] = [site.path, site.packed];
    const steps: readonly (readonly [string, string | Uint8Array, boolean])[] = [
      [text, LARGER, false],
      [packed, packedLarger, true],
      [packed, site.bytes, false],
      [text, EXAMPLE_MAP, true],
      // What is taken back is no longer waited for.
      [text, LARGER, false],
      [text, EXAMPLE_MAP, false],
    ];
    for (const [number, [path, content, isReplaced]] of steps.entries()) {
      const before = await tagsOf();
      writeFileSync(path, content);
      await site.publisher.reload();
      const after = await tagsOf();
      expect([number, after.map((tag, i) => tag !== before[i])]).toEqual([
        number,
        [isReplaced, isReplaced],
      ]);
      const isWaiting = !isReplaced && number < 5;
      expect(await health()).toMatchObject({
        status: isWaiting ? "degraded" : "ok",
        maps: [{ packed: { isPair: true } }],
      });
      expect(site.publisher.site.maps[0].fault ?? "").toMatch(isWaiting ? /waits for/ : /^$/);
    }
  });

  it("has each form replaced by itself where they never were a pair", async () => {
    const site = await both();
    writeFileSync(site.packed, await packedBytes(LARGER));
    const other = await serving(EXAMPLE_MAP, {}, site.packed);
    const [map] = other.publisher.site.maps;
    const versions = (): (string | undefined)[] => [map.current.version, map.packed?.version];
    expect(map.isPair).toBe(false);
    const before = versions();
    writeFileSync(site.packed, await packedBytes(LARGER, { bits: 12 }));
    await other.publisher.reload();
    expect(versions()[0]).toBe(before[0]);
    expect(versions()[1]).not.toBe(before[1]);
    // From here on they are one.
    writeFileSync(other.path, LARGER);
    await other.publisher.reload();
    expect([map.isPair, map.fault]).toEqual([true, undefined]);
    writeFileSync(other.path, EXAMPLE_MAP);
    await other.publisher.reload();
    expect([map.isPair, map.fault]).toEqual([true, expect.stringContaining("waits for")]);
  });

  it("is refused where the packed form is none, or the text is packed", async () => {
    const { packed, path, bytes } = await both();
    await expect(serving(EXAMPLE_MAP, {}, path)).rejects.toThrow("is not a packed map");
    await expect(serving(bytes, {}, packed)).rejects.toThrow("already a packed map");
  });
});
