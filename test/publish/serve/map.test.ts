import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { request } from "node:http";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MementoMapError } from "../../../src/errors.ts";
import { decompressed } from "../../../src/files/decompress.ts";
import { FileSource } from "../../../src/files/input-file.ts";
import { availableEncodings } from "../../../src/publish/serve/encoded-copies.ts";
import { listen } from "../../../src/http/listen.ts";
import { createPublisher } from "../../../src/publish/serve/publisher.ts";
import { scratchDir } from "../../support/scratch.ts";
import { collected } from "../../support/chunked.ts";
import { copiesReady, EXAMPLE_MAP, serving } from "../../support/serving.ts";

const WELL_KNOWN = "/.well-known/mementomap";

/** A GET whose body is not decompressed. */
function rawGet(
  url: string,
  headers: Record<string, string> = {},
  method: string = "GET",
): Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    request(url, { headers, method }, (response) => {
      collected(response).then(
        (body) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.from(body),
          }),
        reject,
      );
    })
      .on("error", reject)
      .end();
  });
}

it("lists all maps at /maps, also those that do not say which archive they are of", async () => {
  const files = ["one", "two"].map((id) => {
    const path = join(scratchDir(), `${id}.ukvs`);
    writeFileSync(path, '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/ 1\n');
    return { id, path };
  });
  const publisher = await createPublisher(files, { reloadEveryMs: 0 });
  onTestFinished(() => publisher.close());
  const list = await publisher.fetch(new Request("https://a.org/maps"));
  expect(await list.text()).toBe(
    '</.well-known/mementomap>; rel="mementomap",\n</maps/two>; rel="item"\n',
  );
});

describe("the map at its well-known place", () => {
  it("comes with its tag, its date, ranges, and a link to itself", async () => {
    const { url } = await serving();
    const { status, headers, body } = await rawGet(url + WELL_KNOWN);
    expect(status).toBe(200);
    expect(body.toString()).toBe(EXAMPLE_MAP);
    expect(headers).toMatchObject({
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      "last-modified": expect.stringMatching(/GMT$/),
      "accept-ranges": "bytes",
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(EXAMPLE_MAP.length),
      "cache-control": "public, max-age=3600",
      "access-control-allow-origin": "*",
      vary: "Accept-Encoding",
      link: '</.well-known/mementomap>; rel="mementomap"',
    });
  });

  it("has the same tag on another server, whatever the time of the file", async () => {
    const tags = await Promise.all(
      [1, 2].map(async () => (await rawGet((await serving()).url + WELL_KNOWN)).headers["etag"]),
    );
    expect(tags[0]).toBe(tags[1]);
  });

  it("answers HEAD with the same headers and nothing else", async () => {
    const { url } = await serving();
    const get = await rawGet(url + WELL_KNOWN);
    const head = await rawGet(url + WELL_KNOWN, {}, "HEAD");
    expect(head.body.length).toBe(0);
    expect({ ...head.headers, date: "" }).toEqual({ ...get.headers, date: "" });
  });

  const best = availableEncodings()[0];

  it.skipIf(best !== "zstd")("is sent as zstd, where this machine can make it", async () => {
    const served = await serving();
    await copiesReady(served);
    const { headers } = await rawGet(served.url + WELL_KNOWN, { "accept-encoding": "zstd" });
    expect(headers["content-encoding"]).toBe("zstd");
  });

  it.each([
    ["gzip", "gzip"],
    ["gzip;q=0.5, zstd;q=0.1", "gzip"],
    ["gzip;q=0, zstd;q=0", undefined],
    ["br", undefined],
    ["*", best],
    ["identity, gzip;q=0.5", undefined],
    ["x-gzip", "gzip"],
  ])("is compressed by negotiation: %s", async (accepted, coding) => {
    const served = await serving();
    await copiesReady(served);
    const { headers, body } = await rawGet(served.url + WELL_KNOWN, {
      "accept-encoding": accepted,
    });
    expect(headers["content-encoding"]).toBe(coding);
    expect(headers["content-length"]).toBe(String(body.length));
    const plain = await collected(
      decompressed(
        (async function* () {
          yield body;
        })(),
        { source: "test" },
      ),
    );
    expect(Buffer.from(plain).toString()).toBe(EXAMPLE_MAP);
  });

  it("has a tag of its own for each coding, and ranges of the coded bytes", async () => {
    const served = await serving();
    await copiesReady(served);
    const whole = await rawGet(served.url + WELL_KNOWN, { "accept-encoding": "gzip" });
    expect(whole.headers["etag"]).toMatch(/^"[0-9a-f]{32}-gzip"$/);
    const part = await rawGet(served.url + WELL_KNOWN, {
      "accept-encoding": "gzip",
      range: "bytes=10-19",
    });
    expect(part.status).toBe(206);
    expect(part.body).toEqual(whole.body.subarray(10, 20));
    expect(gunzipSync(whole.body).toString()).toBe(EXAMPLE_MAP);
  });

  it("is not sent again to those who have it, in whatever coding", async () => {
    const served = await serving();
    await copiesReady(served);
    const { headers } = await rawGet(served.url + WELL_KNOWN);
    const etag = String(headers["etag"]);
    const status = async (more: Record<string, string>): Promise<number> =>
      (await rawGet(served.url + WELL_KNOWN, more)).status;
    expect(await status({ "if-none-match": etag })).toBe(304);
    expect(await status({ "if-none-match": `"x", W/${etag}` })).toBe(304);
    expect(await status({ "if-none-match": "*" })).toBe(304);
    expect(await status({ "if-none-match": etag, "accept-encoding": "gzip" })).toBe(304);
    expect(await status({ "if-none-match": '"x"' })).toBe(200);
    expect(await status({ "if-modified-since": String(headers["last-modified"]) })).toBe(304);
    expect(await status({ "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" })).toBe(200);
    expect(await status({ "if-modified-since": "never" })).toBe(200);
    expect(await status({ "if-match": '"x"' })).toBe(412);
    expect(await status({ "if-match": etag })).toBe(200);
    expect(await status({ "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" })).toBe(412);
  });

  it("comes in any part asked for, and whole when the request makes no sense", async () => {
    const { url } = await serving();
    const etag = String((await rawGet(url + WELL_KNOWN)).headers["etag"]);
    const bytes = Buffer.from(EXAMPLE_MAP);
    await fc.assert(
      fc.asyncProperty(fc.nat(400), fc.nat(400), async (from, length) => {
        const range = `bytes=${from}-${from + length}`;
        const { status, body, headers } = await rawGet(url + WELL_KNOWN, { range });
        const expected =
          from < bytes.length
            ? { status: 206, sent: bytes.subarray(from, from + length + 1).toString() }
            : { status: 416, sent: `bytes */${bytes.length}` };
        const sent = status === 416 ? headers["content-range"] : body.toString();
        expect({ status, sent }).toEqual(expected);
      }),
      { numRuns: 30 },
    );
    const status = async (range: string, ifRange?: string): Promise<number> =>
      (
        await rawGet(url + WELL_KNOWN, {
          range,
          ...(ifRange === undefined ? {} : { "if-range": ifRange }),
        })
      ).status;
    expect(await status("bytes=a-b")).toBe(200);
    expect(await status("bytes=0-4", etag)).toBe(206);
    expect(await status("bytes=0-4", '"old"')).toBe(200);
    expect(await status("bytes=0-4", `W/${etag}`)).toBe(200);
  });
});

describe("pages", () => {
  it("follow one another by links, and are together the map", async () => {
    const { url } = await serving(EXAMPLE_MAP, { pageRecords: 2 });
    let target: string | undefined = `${WELL_KNOWN}?page=1`;
    const records: string[] = [];
    let pages = 0;
    while (target !== undefined) {
      const { headers, body } = await rawGet(url + target, { "accept-encoding": "identity" });
      const link = String(headers["link"]);
      expect(link).toContain(`<${WELL_KNOWN}?page=1>; rel="first"`);
      expect(link).toContain(`<${WELL_KNOWN}?page=3>; rel="last"`);
      expect(link).toContain(`<${WELL_KNOWN}>; rel="mementomap"`);
      records.push(
        ...body
          .toString()
          .split("\n")
          .filter((line) => !/^!|^$/.test(line)),
      );
      target = /<([^<>]*)>; rel="next"/.exec(link)?.[1];
      pages += 1;
    }
    expect(pages).toBe(3);
    expect(`${records.join("\n")}\n`).toBe(EXAMPLE_MAP.replaceAll(/^!.*\n/gm, ""));
  });

  it("are compressed, tagged and cut into ranges like the map", async () => {
    const served = await serving(EXAMPLE_MAP, { pageRecords: 2 });
    await copiesReady(served);
    const page = `${served.url}${WELL_KNOWN}?page=2`;
    const plain = await rawGet(page);
    const packed = await rawGet(page, { "accept-encoding": "gzip" });
    expect(gunzipSync(packed.body)).toEqual(plain.body);
    expect(packed.headers["etag"]).not.toBe(plain.headers["etag"]);
    const part = await rawGet(page, { range: "bytes=200-400" });
    expect(part.body).toEqual(plain.body.subarray(200, 401));
    const again = await rawGet(page, { "if-none-match": String(plain.headers["etag"]) });
    expect(again.status).toBe(304);
  });

  it("are refused where there are none", async () => {
    const { url } = await serving();
    for (const page of ["0", "2", "99999999999999", "-1", "x", ""]) {
      const { status, headers } = await rawGet(`${url}${WELL_KNOWN}?page=${page}`);
      expect([400, 404]).toContain(status);
      expect(headers["content-type"]).toBe("application/problem+json");
    }
  });

  it("give the last line its end where the map lacks it", async () => {
    const { url } = await serving(EXAMPLE_MAP.trimEnd(), { pageRecords: 2 });
    const { body } = await rawGet(`${url}${WELL_KNOWN}?page=3`);
    expect(body.toString().endsWith("300+/20-\n")).toBe(true);
  });
});

describe("several maps", () => {
  it("are linked with the archive they are of, and found by the host", async () => {
    const served = await serving();
    const other = join(served.folder, "other.ukvs");
    writeFileSync(other, EXAMPLE_MAP.replaceAll("archive.example.org", "other.example.net"));
    const publisher = await createPublisher([served.path, other], { reloadEveryMs: 0 });
    const server = await listen(publisher, { port: 0 });
    try {
      const { headers } = await rawGet(`${server.url}/health`);
      expect(headers["link"]).toBe(
        '</.well-known/mementomap>; rel="mementomap", ' +
          '</maps/other>; rel="mementomap"; anchor="https://other.example.net/"; title="Example Archive", ' +
          '</maps>; rel="linkset"; type="application/linkset"',
      );
      const byHost = await rawGet(server.url + WELL_KNOWN, { host: "other.example.net" });
      expect(byHost.body.toString()).toContain("other.example.net");
      const list = await rawGet(`${server.url}/maps`);
      expect(list.body.toString()).toContain('anchor="https://other.example.net/"');
      const answer = await rawGet(`${server.url}/lookup?url=http://arxiv.org/`);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        present: true,
        answers: [{ map: "map" }, { map: "other", archive: "https://other.example.net/" }],
      });
    } finally {
      await server.stop();
      await publisher.close();
    }
  });

  it("of other archives only leave the well-known place empty", async () => {
    const { url } = await serving(EXAMPLE_MAP, { isThirdParty: true });
    const { status, headers } = await rawGet(url + WELL_KNOWN);
    expect(status).toBe(404);
    expect(headers["link"]).toContain(
      '</maps/map>; rel="mementomap"; anchor="https://archive.example.org/"',
    );
    expect((await rawGet(`${url}/maps/map`)).body.toString()).toBe(EXAMPLE_MAP);
  });
});

describe("a map whose file changes", () => {
  const newer = `${EXAMPLE_MAP}uk,co,bbc)/news 5\n`;

  it("is replaced when the new one is sound", async () => {
    const served = await serving();
    const before = await rawGet(served.url + WELL_KNOWN);
    writeFileSync(`${served.path}.new`, newer);
    renameSync(`${served.path}.new`, served.path);
    await served.publisher.reload();
    const after = await rawGet(served.url + WELL_KNOWN, {
      "if-none-match": String(before.headers["etag"]),
    });
    expect(after.body.toString()).toBe(newer);
    const answer = await rawGet(`${served.url}/lookup?url=http://bbc.co.uk/news`);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ key: "uk,co,bbc)/news" });
  });

  it("stays when the new one is not sorted, is cut short, or is gone", async () => {
    const served = await serving();
    for (const bad of [
      "not a map <html>\n",
      `${EXAMPLE_MAP}com,a)/ 1\n`,
      gzipSync(newer).subarray(0, 40),
    ]) {
      writeFileSync(`${served.path}.new`, bad);
      renameSync(`${served.path}.new`, served.path);
      await served.publisher.reload();
      expect((await rawGet(served.url + WELL_KNOWN)).body.toString()).toBe(EXAMPLE_MAP);
    }
    renameSync(served.path, `${served.path}.gone`);
    // Told of once: somebody may be away for weeks.
    for (let i = 0; i < 3; i++) await served.publisher.reload();
    expect((await rawGet(served.url + WELL_KNOWN)).body.toString()).toBe(EXAMPLE_MAP);
    const health = JSON.parse((await rawGet(`${served.url}/health`)).body.toString());
    expect(health).toMatchObject({ status: "degraded", maps: [{ reloads: 0, refusals: 4 }] });
    writeFileSync(served.path, newer);
    await served.publisher.reload();
    expect((await rawGet(served.url + WELL_KNOWN)).body.toString()).toBe(newer);
  });

  it("is sent to the end to those who began with it, and none is refused meanwhile", async () => {
    const rows = Array.from(
      { length: 200_000 },
      (_, i) => `com,a${String(i).padStart(7, "0")})/ 1\n`,
    );
    const big = EXAMPLE_MAP.replace("com,* 10000+\n", rows.join(""));
    const served = await serving(big, { maxShrink: 1 });
    const slow = new Promise<Buffer>((resolve, reject) => {
      request(served.url + WELL_KNOWN, (response) => {
        response.pause();
        void (async () => {
          writeFileSync(`${served.path}.new`, newer);
          renameSync(`${served.path}.new`, served.path);
          await served.publisher.reload();
          resolve(Buffer.from(await collected(response)));
        })().catch(reject);
      })
        .on("error", reject)
        .end();
    });
    expect((await slow).equals(Buffer.from(big))).toBe(true);
    expect((await rawGet(served.url + WELL_KNOWN)).body.toString()).toBe(newer);
  });

  it("may be stored compressed", async () => {
    const { url } = await serving(gzipSync(EXAMPLE_MAP));
    expect((await rawGet(url + WELL_KNOWN)).body.toString()).toBe(EXAMPLE_MAP);
  });
});

/** A publisher that was out of open files when its map changed never took the new one. */
it("takes a new map that could not be opened at first, though its file is the same", async () => {
  const served = await serving(EXAMPLE_MAP);
  const newer = `${EXAMPLE_MAP}uk,co,bbc)/news 5\n`;
  writeFileSync(`${served.path}.new`, newer);
  renameSync(`${served.path}.new`, served.path);
  const shown = async (): Promise<string> =>
    (await fetch(`${served.url}/.well-known/mementomap`)).text();
  const open = vi.spyOn(FileSource, "open");
  open.mockRejectedValue(new MementoMapError("MM_IO", "EMFILE: too many open files"));
  await served.publisher.reload();
  expect(await shown()).toBe(EXAMPLE_MAP);
  open.mockRestore();
  await served.publisher.reload();
  expect(await shown()).toBe(newer);
});
