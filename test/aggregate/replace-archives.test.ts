import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import {
  aggregating,
  type LocalArchive,
  localArchive,
  plainArchive,
} from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";

const URI = "http://example.org/a";

async function countOf(url: string, page: string): Promise<string | null> {
  const answer = await fetch(`${url}/timemap/link/${URI}/${page}`);
  await answer.arrayBuffer();
  return answer.headers.get("x-memento-count");
}

function askedOf({ requests }: LocalArchive): number {
  return requests.length;
}

describe("replaceArchives", () => {
  it("asks the archives of the new list, in its order, and shows them", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const two = await plainArchive("two", ["20080101000000", "20100101000000"]);
    const { url, open } = await aggregating([one]);
    expect(await countOf(url, "1")).toBe("1");
    await open.replaceArchives([two.archive, one.archive]);
    expect(await countOf(url, "2")).toBe("3");
    await open.replaceArchives([two.archive]);
    expect(await countOf(url, "4")).toBe("2");
    expect(askedOf(one)).toBe(2);
    const refused = await fetch(`${url}/timemap/link/${URI}`, {
      headers: { Prefer: 'archives="one"' },
    });
    expect(refused.status).toBe(400);
  });

  it("lets questions under way end with the old list, further pages of a TimeMap included", async () => {
    let release = (): void => undefined;
    const paged = await localArchive("paged", (request, response) => {
      const { host = "" } = request.headers;
      const answer = (time: string, next = ""): void =>
        void response.end(linkTimeMap(URI, `http://${host}/web/`, [time], next));
      if (request.url?.includes("page-2") === true) {
        answer("20050101000002");
        return;
      }
      const next = `<http://${host}/timemap/link/page-2>; rel="next"; type="application/link-format"`;
      release = () => answer("20050101000001", next);
    });
    const other = await plainArchive("other", ["20080101000000"]);
    const { url, open } = await aggregating([other, paged]);
    const count = countOf(url, "1");
    await expect.poll(() => askedOf(paged)).toBe(1);
    await open.replaceArchives([other.archive]);
    expect(open.upstream.isListed(paged.url)).toBe(true);
    release();
    expect(await count).toBe("3");
    expect(open.upstream.isListed(paged.url)).toBe(false);
  });

  it("keeps what is known of an archive that is still there", async () => {
    const fails = await localArchive("fails", (_request, response) => {
      response.writeHead(500).end();
    });
    const one = await plainArchive("one", ["20050101000000"]);
    const { url, open } = await aggregating([fails, one], {
      aggregator: { upstream: { tolerance: 1 } },
    });
    expect(await countOf(url, "1")).toBe("1");
    const before = open.statistics.countsOf(one.archive);
    // Another object, with another limit, at another place.
    const changed: Archive = { ...fails.archive, concurrency: 1 };
    await open.replaceArchives([one.archive, changed]);
    expect(open.upstream.stateOf(changed)).toMatchObject({
      health: "dormant",
      consecutiveFailures: 1,
      lastFailure: "HTTP status 500",
    });
    expect(open.statistics.countsOf({ ...one.archive })).toEqual(before);
    expect(open.statistics.countsOf(changed).errors).toBe(1);
    // From the cache, which goes by addresses.
    expect(await countOf(url, "1")).toBe("1");
    expect([askedOf(one), askedOf(fails)]).toEqual([1, 1]);
    // What happened at an address is not held against the archive at another.
    const works = await plainArchive("fails", ["20060101000000"]);
    await open.replaceArchives([one.archive, works.archive]);
    expect(await countOf(url, "2")).toBe("2");
  });

  it("forgets archives that are gone, and trusts their addresses no more", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const gone = await plainArchive("gone", ["20080101000000"]);
    const leads = await localArchive("leads", (request, response) => {
      response.writeHead(302, { Location: `${gone.url}${request.url}` }).end();
    });
    const { url, open } = await aggregating([one, gone, leads], {
      aggregator: { upstream: { totalTimeoutMs: 2_000 } },
    });
    expect(await countOf(url, "1")).toBe("2");
    expect(askedOf(gone)).toBe(2); // once by the redirect
    await open.replaceArchives([one.archive, leads.archive]);
    await expect.poll(() => Array.from(open.upstream.traffic.keys())).toEqual(["one", "leads"]);
    expect(open.statistics.countsOf(gone.archive).asked).toBe(0);
    const answer = await fetch(`${url}/timemap/link/${URI}/2`);
    expect(answer.headers.get("x-mementomap-missing")).toBe("leads;private-address");
    expect(askedOf(gone)).toBe(2);
  });

  it("has more requests under way where the new list allows it", async () => {
    const releases: (() => void)[] = [];
    const slow = await localArchive("slow", (_request, response) => {
      releases.push(() => void response.writeHead(404).end());
    });
    const limited: Archive = { ...slow.archive, concurrency: 1 };
    const { url, open } = await aggregating([{ ...slow, archive: limited }]);
    const answers = [1, 2, 3].map((page) => countOf(url, String(page)));
    await expect.poll(() => askedOf(slow)).toBe(1);
    await open.replaceArchives([{ ...limited, concurrency: 3 }]);
    await expect.poll(() => askedOf(slow)).toBe(3);
    for (const release of releases) release();
    expect(await Promise.all(answers)).toEqual(["0", "0", "0"]);
  });

  it("keeps maps that are where they were, and reads the others before it goes by the list", async () => {
    const folder = scratchDir();
    const map = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    };
    const kept = await plainArchive("kept", ["20050101000000"]);
    const added = await plainArchive("added", ["20080101000000"]);
    const has: Archive = { ...kept.archive, mementomap: map("kept.ukvs", "org,example)/* 3\n") };
    const lacks: Archive = { ...added.archive, mementomap: map("added.ukvs", "com,cnn)/* 3\n") };
    const { url, open } = await aggregating([{ ...kept, archive: has }]);
    const before = open.keeper.stateOf(has);
    await open.replaceArchives([lacks, { ...has, probability: 0.5 }]);
    expect(await countOf(url, "1")).toBe("1");
    expect(askedOf(added)).toBe(0);
    expect(open.keeper.stateOf(has)).toMatchObject({ keys: 1, fetchedAt: before?.fetchedAt });
    // A version that comes later is still taken.
    writeFileSync(lacks.mementomap ?? "", "org,example)/* 30\n");
    await open.keeper.check();
    expect(await countOf(url, "2")).toBe("2");
    // Another place, with nothing to go by: the archive is asked.
    await open.replaceArchives([{ ...has, mementomap: join(folder, "none.ukvs") }]);
    expect(open.keeper.stateOf(has)).toMatchObject({ status: "failed", keys: 0 });
    expect(await countOf(url, "3")).toBe("1");
  });

  it("replaces the list where routing is off", async () => {
    const one = await plainArchive("one", ["20050101000000"]);
    const two = await plainArchive("two", ["20080101000000"]);
    const { url, open } = await aggregating([one], { aggregator: { isRouting: false } });
    await open.replaceArchives([one.archive, two.archive]);
    expect(await countOf(url, "1")).toBe("2");
  });
});
