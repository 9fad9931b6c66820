import { createServer, type Server } from "node:net";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { ClaimChannel, ClaimServer, Holders } from "../../../src/aggregate/service/claims.ts";
import { scratchDir } from "../../support/scratch.ts";

const all = (): boolean => true;

describe("the holders of originals", () => {
  it("are those who asked first, as long as they live", () => {
    const process = fc.integer({ min: 1, max: 512 });
    const claims = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), process), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(claims, process, (asked, gone) => {
        const holders = new Holders();
        const first = new Map<number, number>();
        for (const [hash, asking] of asked) {
          if (!first.has(hash)) first.set(hash, asking);
          expect(holders.claim(hash, asking, all)).toBe(first.get(hash));
        }
        const next = new Holders();
        next.restore(holders.dump());
        for (const [hash, holder] of first) {
          const expected = holder === gone ? 600 : holder;
          expect(next.claim(hash, 600, (process) => process !== gone)).toBe(expected);
        }
      }),
    );
  });

  it("are forgotten, the oldest first, in fixed memory", () => {
    const holders = new Holders();
    for (let hash = 0; hash < 500_000; hash++) {
      holders.claim(Math.imul(hash, 0x9e3779b1) >>> 0, 1, all);
      if (hash % 50 === 0) holders.claim(7, 2, all);
    }
    expect(holders.claim(7, 3, all)).toBe(2);
    expect(holders.claim(0, 3, all)).toBe(3);
    expect(holders.dump().length).toBeLessThan(300_000);
  });
});

describe("claims between processes", () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  async function served(path: string): Promise<ClaimServer> {
    const holders = new Holders();
    const server = new ClaimServer((hash, asking) => holders.claim(hash, asking, all));
    await server.listen(path);
    ends.push(() => server.close());
    return server;
  }

  function channel(path: string, number: number): ClaimChannel {
    const made = new ClaimChannel(path, number);
    ends.push(() => made.close());
    return made;
  }

  function claim(on: ClaimChannel, hash: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      on.claim(hash, resolve);
    });
  }

  it("are answered in their order, whoever asks, in batches of any size", async () => {
    const path = join(scratchDir(), "s");
    await served(path);
    const [one, other] = [channel(path, 3), channel(path, 300)];
    expect(await claim(one, 1)).toBe(3);
    expect(await claim(other, 1)).toBe(3);
    const hashes = Array.from({ length: 50_000 }, (_, i) => 10 + i);
    await Promise.all(hashes.filter((hash) => hash % 2 === 0).map((hash) => claim(other, hash)));
    const holders = await Promise.all(hashes.map((hash) => claim(one, hash)));
    expect(holders).toEqual(hashes.map((hash) => (hash % 2 === 0 ? 300 : 3)));
  });

  it("have no answer where nobody listens, and one when somebody does again", async () => {
    const path = join(scratchDir(), "s");
    const asking = channel(path, 3);
    expect(await claim(asking, 1)).toBeUndefined();
    const server = await served(path);
    expect(await claim(asking, 1)).toBe(3);
    server.close();
    const late = [claim(asking, 2), claim(asking, 3)];
    expect(await Promise.all(late)).toEqual([undefined, undefined]);
    await served(path);
    expect(await claim(asking, 4)).toBe(3);
  });

  it("do not wait for a process that hangs", async () => {
    const path = join(scratchDir(), "s");
    const silent: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(path, resolve));
    ends.push(() => silent.close());
    const asking = channel(path, 3);
    const startedAt = performance.now();
    const answers = await Promise.all([claim(asking, 1), claim(asking, 2)]);
    expect(answers).toEqual([undefined, undefined]);
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});
