import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { aggregating, localArchive, plainArchive } from "../support/aggregating.ts";

describe("an archive that is slow", () => {
  it("does not make clients wait in its queue: they get what the others have", async () => {
    const held: ServerResponse[] = [];
    const slow = await localArchive("slow", (_request, response) => void held.push(response));
    const good = await plainArchive("good", ["20150101000000"]);
    const one = { ...slow, archive: { ...slow.archive, concurrency: 1 } };
    const { url } = await aggregating([one, good], {
      aggregator: { upstream: { queueTimeoutMs: 50 } },
    });
    const ask = async (page: number): Promise<string> => {
      const answer = await fetch(`${url}/timemap/link/http://example.org/${page}`);
      await answer.text();
      return `${answer.headers.get("x-memento-count")} ${answer.headers.get("x-mementomap-missing")}`;
    };
    const first = ask(0);
    await expect.poll(() => held.length).toBe(1);
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i + 1)));
    expect(new Set(others)).toEqual(new Set(["1 slow;queue-timeout"]));
    held[0]?.writeHead(404).end();
    expect(await first).toBe("1 null");
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
    const request = { uri: "http://example.org/", datetime: 20140101000000 };
    const { outcomes } = await open.aggregator.timeGate(request);
    expect(link.length).toBeGreaterThan(100_000);
    expect(outcomes).toMatchObject([{ result: "hit", mementos: 1500 }]);
  });
});

function clock(second: number): string {
  return new Date(second * 1000).toISOString().slice(11, 19);
}
