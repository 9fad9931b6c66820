import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withSharedMaps } from "../../../src/aggregate/route/shared-maps.ts";
import { type Archive, parseArchiveList } from "../../../src/aggregate/route/archive.ts";
import { PACKED_CONTENT_TYPE } from "../../../src/http/reply.ts";
import { aggregating, type LocalArchive, plainArchive } from "../../support/aggregating.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { scriptedServer } from "../../support/scripted-server.ts";

interface Sharing {
  readonly url: string;
  readonly archives: readonly LocalArchive[];
}

/** An aggregator of two archives that shares what it learnt: one has everything, one nothing. */
async function sharing(root = "/"): Promise<Sharing> {
  const archives = [
    await plainArchive("good", ["20050101000000"]),
    await plainArchive("poor", []),
    await plainArchive("odd id/é", ["20050101000000"]),
  ];
  const shareFolder = join(scratchDir(), "learnt-maps");
  const { open, url } = await aggregating(archives, {
    aggregator: { learn: { recall: 0.95, shareFolder, memoryBytes: 2 ** 20 } },
    service: { root },
  });
  const at = `${url}${root}`;
  expect(await (await fetch(`${at}maps`)).text()).toBe("");
  expect((await fetch(`${at}maps/good`)).status).toBe(404);
  for (let i = 0; i < 40; i++) {
    open.learner?.observe({ archive: "good", surt: `org,held)/news/${i}`, mementos: 2 });
    open.learner?.observe({ archive: "odd id/é", surt: `org,held)/news/${i}`, mementos: i % 2 });
  }
  for (let i = 0; i < 400; i++) {
    open.learner?.observe({ archive: "good", surt: `com,empty)/x/${i}`, mementos: 0 });
    open.learner?.observe({ archive: "poor", surt: `com,empty)/x/${i}`, mementos: 0 });
  }
  await open.learntMaps?.write();
  return { url: at, archives };
}

describe("an aggregator that shares what it learnt", () => {
  it("says why it cannot, which is no bug", async () => {
    const file = join(scratchDir(), "file");
    writeFileSync(file, "");
    const faults: string[] = [];
    const onFault = (message: string, reason: string): number =>
      faults.push(`${message}: ${reason}`);
    const shareFolder = join(file, "learnt-maps");
    const { open } = await aggregating([await plainArchive("good", [])], {
      aggregator: { learn: { recall: 0.95, shareFolder, memoryBytes: 2 ** 20, onFault } },
    });
    open.learner?.observe({ archive: "good", surt: "org,held)/", mementos: 2 });
    await open.learntMaps?.write();
    expect(faults).toEqual([
      expect.stringMatching(/^what was learnt is not shared: .*learnt-maps: already exists/),
    ]);
  });

  it("lists maps of its archives, and gives them in text and packed", async () => {
    const { url, archives } = await sharing();
    const list = await fetch(`${url}maps`);
    expect(list.headers.get("content-type")).toBe("application/linkset");
    const links = await list.text();
    expect(links).toContain(`</maps/good>; rel="mementomap"; anchor="${archives[0].url}/"`);
    expect(links).toContain("</maps/odd-id-");
    expect(links).not.toContain("poor");

    const plain = { "Accept-Encoding": "identity" };
    const map = await fetch(`${url}maps/good`, { headers: plain });
    const etag = map.headers.get("etag") ?? "";
    expect(map.headers.get("vary")).toContain("Accept");
    const text = await map.text();
    expect(text).toContain('com,empty)/* 0 {"lookups":400}\n');
    expect(text).toContain('org,held)/* 40+/40~ {"lookups":40}\n');
    const packed = await fetch(`${url}maps/good`, { headers: { Accept: PACKED_CONTENT_TYPE } });
    expect(packed.headers.get("content-type")).toBe(PACKED_CONTENT_TYPE);
    const again = await fetch(`${url}maps/good`, {
      headers: { ...plain, "If-None-Match": etag },
    });
    expect(again.status).toBe(304);
    const head = await fetch(`${url}maps/good`, { method: "HEAD", headers: plain });
    expect(head.headers.get("content-length")).toBe(String(text.length));
    expect((await fetch(`${url}maps/poor`)).status).toBe(404);
    expect((await fetch(`${url}maps/good`, { method: "POST" })).status).toBe(405);
    for (const path of ["about", "about.json", ""]) {
      const about = await fetch(`${url}${path}`, { headers: { Accept: "text/html" } });
      expect(about.headers.get("link")).toContain(`anchor="${archives[0].url}/"`);
    }
  });

  it("passes the checks of a publisher, below a path too", async () => {
    const { url, archives } = await sharing("/agg/");
    expect(await (await fetch(`${url}maps`)).text()).toContain("</agg/maps/good>");
    // Compressed copies come a little later.
    const encoding = async (): Promise<string | null> =>
      (await fetch(`${url}maps/good`, { method: "HEAD" })).headers.get("content-encoding");
    await expect.poll(encoding, { timeout: 20_000 }).not.toBeNull();
    const check = ["validate", "--strict", "--url", url, "--archive", archives[0].url];
    const { stdout, stderr, code } = await runCli(check);
    expect(`${stdout}${stderr}`).toContain("0 errors, 0 warnings");
    expect(code).toBe(0);
    const file = join(scratchDir(), "good.ukvs");
    const fetched = await runCli(["fetch", url, "--archive", archives[0].url, "-o", file]);
    expect(`${fetched.stderr} ${fetched.code}`).toMatch(/ 0$/);
  });

  it("is what another begins with: it spares an archive that it never asked", async () => {
    const { url, archives } = await sharing();
    const list: Archive[] = archives.map(({ archive }) => archive);
    const named = await withSharedMaps(list, url);
    expect(named.map(({ mementomap }) => mementomap)).toEqual([
      `${url}maps/good`,
      undefined,
      `${url}maps/odd-id-`,
    ]);
    const folder = scratchDir();
    const file = join(folder, "archives.json");
    writeFileSync(file, JSON.stringify(list));
    const args = ["--archives", file, "--recall", "0.9", "--state", join(folder, "state")];
    const learnt = await runCli(["route", "http://empty.com/x/new", ...args, "--learn-from", url]);
    expect(learnt.stdout).toMatch(/good: 0 of \d+ lookups under com,empty\)/);
    const alone = await runCli(["route", "http://empty.com/x/new", ...args.slice(0, 4)]);
    expect(alone.stdout).toContain("good: nothing is known of it yet");
  });

  it("does without another aggregator that is not there, or lists odd things", async () => {
    const folder = scratchDir();
    const file = join(folder, "archives.json");
    const archives = [{ id: "a", timemap: "http://127.0.0.1:9/timemap/" }];
    writeFileSync(file, JSON.stringify(archives));
    const args = ["route", "http://x.org/", "--archives", file, "--recall", "0.9"];
    const { stdout, stderr, code } = await runCli([...args, "--learn-from", "http://127.0.0.1:9/"]);
    expect(stdout).toContain("ask   a");
    expect(stderr).toContain("nothing is learnt from another aggregator: http://127.0.0.1:9/maps");
    expect(code).toBe(0);
    const odd = await scriptedServer((_request, response) => {
      const anchor = 'rel="mementomap"; anchor="http://127.0.0.1:9/"';
      response.end(`<http://169.254.169.254/x>; ${anchor}, <y>; rel="next", <<`);
    });
    const list = JSON.stringify(archives);
    expect(await withSharedMaps(parseArchiveList(list), odd.url)).toEqual(parseArchiveList(list));
    await expect(withSharedMaps([], "not an address")).rejects.toThrow("not the URL");
  });
});
