import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { linkTimeMap } from "../support/scripted-upstream.ts";
import { aggregating, localArchive, plainArchive } from "../support/aggregating.ts";

const URI = "http://example.org/";

describe("an archive that is slow", () => {
  it("loses nothing, however many ask at once from the first second", async () => {
    const held: ServerResponse[] = [];
    const slow = await localArchive("slow", (_request, response) => {
      held.push(response);
      if (held.length < 4) return;
      for (const each of held.splice(0))
        each.end(linkTimeMap(URI, "http://s/", ["20140101000000"]));
    });
    const good = await plainArchive("good", ["20150101000000"]);
    const few = { ...slow, archive: { ...slow.archive, concurrency: 4 } };
    const { url } = await aggregating([few, good]);
    const ask = async (page: number): Promise<string> => {
      const answer = await fetch(`${url}/timemap/link/${URI}${page}`);
      await answer.text();
      return `${answer.headers.get("x-memento-count")} ${answer.headers.get("x-mementomap-missing")}`;
    };
    const answers = await Promise.all(Array.from({ length: 40 }, (_, page) => ask(page)));
    expect(new Set(answers)).toEqual(new Set(["2 null"]));
  });

  it("is named in an answer that does not wait for it, and has its part in the next", async () => {
    const held: ServerResponse[] = [];
    const slow = await localArchive("slow", (_request, response) => void held.push(response));
    const good = await plainArchive("good", ["20150101000000"]);
    const { url } = await aggregating([slow, good]);
    const ask = async (wait: number): Promise<(string | null)[]> => {
      const { headers } = await fetch(`${url}/timemap/link/${URI}`, {
        headers: { Prefer: `wait=${wait}` },
      });
      return ["x-memento-count", "x-mementomap-missing", "preference-applied"].map((name) =>
        headers.get(name),
      );
    };
    expect(await ask(1)).toEqual(["1", "slow;pending", "wait=1"]);
    held[0]?.end(linkTimeMap(URI, "http://s/", ["20140101000000"]));
    expect(await ask(60)).toEqual(["2", null, "wait=60"]);
    expect(slow.requests).toHaveLength(1);
  });

  it("that nobody has an answer of yet is 504, with when to ask again", async () => {
    const slow = await localArchive("slow", () => undefined);
    const { url } = await aggregating([slow], {
      aggregator: { aggregator: { deadlineMs: 10 } },
      listen: { limits: { graceMs: 10 } },
    });
    const answer = await fetch(`${url}/timemap/link/${URI}`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([504, "2"]);
    expect(await answer.json()).toMatchObject({
      missing: [{ archive: "slow", reason: "pending" }],
    });
  });

  it("has a TimeGate whose headers may be long", async () => {
    const memento = '<http://a/web/20140101000000/http://x/>; rel="memento"';
    const link = Array.from(
      { length: 1500 },
      (_, i) => `${memento}; datetime="Wed, 01 Jan 2014 ${clock(i)} GMT"`,
    ).join(", ");
    const long = await localArchive("long", (_request, response) => {
      response.writeHead(302, { Link: link, Location: "/web/20140101000000/x" }).end();
    });
    const { open } = await aggregating([long]);
    const request = { uri: URI, datetime: 20140601000000 };
    const { outcomes } = await open.aggregator.timeGate(request);
    expect(link.length).toBeGreaterThan(100_000);
    expect(outcomes).toMatchObject([{ result: "hit", mementos: 1500 }]);
  });
});

function clock(second: number): string {
  return new Date(second * 1000).toISOString().slice(11, 19);
}
