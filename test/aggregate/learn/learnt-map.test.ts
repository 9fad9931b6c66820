import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Learner, type LearnerOptions } from "../../../src/aggregate/learn/learner.ts";
import { learntMap, takeLearntMap } from "../../../src/aggregate/learn/shared-map.ts";
import { restoreSnapshot, snapshotOf } from "../../../src/aggregate/learn/snapshot.ts";
import { MemoryIndex } from "../../../src/lookup/memory-index.ts";
import { validateMap } from "../../../src/maps/validate-map.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const DESCRIPTION = { id: "https://a.example/", name: "An archive", now: NOW };

function learnerOf(options: LearnerOptions = {}): Learner {
  const ids = [{ id: "a" }, { id: "b" }];
  const more = { memoryBytes: 2 ** 18, now: () => now, random: () => 1 };
  return new Learner(ids, { ...more, ...options });
}

let now = NOW;

/** Looks up pages below a prefix, of which the archive has some, from several networks on several days. */
function look(
  learner: Learner,
  prefix: string,
  count: number,
  has: (i: number) => boolean,
  { networks = 9, days = 11 } = {},
): void {
  for (let i = 0; i < count; i++) {
    const mementos = has(i) ? 3 : 0;
    now = NOW - (i % days) * 86_400_000;
    learner.observe({ archive: "a", surt: `${prefix}${i}`, mementos, network: `${i % networks}` });
  }
  now = NOW;
}

function mapOf(learner: Learner, archive = "a"): MemoryIndex {
  return MemoryIndex.build(learntMap(learner, archive, DESCRIPTION) ?? new Uint8Array(0));
}

function rowsOf({ bytes }: MemoryIndex): string[] {
  const lines = new TextDecoder().decode(bytes).trimEnd().split("\n");
  return lines.filter((line) => !line.startsWith("!"));
}

async function faultsOf(bytes: Uint8Array): Promise<string[]> {
  const faults: string[] = [];
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  for await (const { message } of validateMap(chunks())) faults.push(message);
  return faults;
}

describe("a map of what was learnt", () => {
  it("has no void of fewer than five networks, or of fewer than seven days", () => {
    const learner = learnerOf();
    look(learner, "org,held)/", 20, () => true);
    look(learner, "org,few)/", 900, () => false, { networks: 4 });
    look(learner, "org,soon)/", 900, () => false, { days: 6 });
    expect(rowsOf(mapOf(learner)).filter((row) => row.includes(" 0 "))).toEqual([]);
    // A log is the operator's own.
    for (let i = 0; i < 400; i++) {
      learner.observe({ archive: "a", surt: `org,log)/${i}`, mementos: 0, isOutside: true });
    }
    expect(rowsOf(mapOf(learner))).toContain('org,log)/* 0 {"lookups":400}');
  });

  it("has what was found below prefixes, and voids where enough was looked up in vain", () => {
    const learner = learnerOf();
    look(learner, "org,held)/news/", 40, (i) => i % 2 === 0);
    look(learner, "org,empty)/x/", 320, () => false);
    look(learner, "org,unsure)/x/", 100, () => false);
    look(learner, "org,once)/x/", 3, () => true);
    const map = mapOf(learner);
    expect(rowsOf(map)).toEqual([
      '* 23+/23~ {"lookups":463}',
      'org,* 23+/23~ {"lookups":463}',
      'org,empty)/* 0 {"lookups":320}',
      'org,held)/* 20+/20~ {"lookups":40}',
      'org,held)/news/* 20+/20~ {"lookups":40}',
      'org,held,* 20+/20~ {"lookups":40}',
    ]);
    expect(map.headers.id).toBe("https://a.example/");
    expect(map.headers.meta).toMatchObject({
      name: "An archive",
      sample: true,
      canonicalization: "surt",
      updated_at: "2026-01-01T00:00:00Z",
      misses: { "org,empty,*": 320, "org,unsure,*": 100 },
    });
    expect(learntMap(learner, "b", DESCRIPTION)).toBeUndefined();
    expect(learntMap(learner, "nobody", DESCRIPTION)).toBeUndefined();
  });

  const uris = fc
    .tuple(
      fc.constantFrom("http://a.com/", "http://b.a.com:81/", "http://x.org/", "http://1.2.3.4/"),
      fc.constantFrom("", "x/", "x/y/", "x/*/", "x/%20/", "x/y/z/deep/", "é/"),
      fc.nat(400).map(String),
      fc.constantFrom("", "?secret=1"),
    )
    .map((parts) => parts.join(""));

  it("is a valid map that names no single original and hides nothing that was found", async () => {
    const answers = fc.array(fc.tuple(uris, fc.boolean()), { minLength: 50, maxLength: 2000 });
    await fc.assert(
      fc.asyncProperty(answers, fc.constantFrom(1, 0.3), async (asked, share) => {
        const learner = learnerOf();
        const held = new Map(
          asked.map(([uri, isHit], i) => [surt(uri), isHit && i % 7 < 7 * share]),
        );
        for (const [key, isHit] of held) {
          learner.observe({ archive: "a", surt: key, mementos: isHit ? 1 : 0 });
        }
        const bytes = learntMap(learner, "a", DESCRIPTION);
        if (bytes === undefined) return;
        expect(await faultsOf(bytes)).toEqual([]);
        const map = MemoryIndex.build(bytes);
        for (const row of rowsOf(map)) {
          const [, key, lookups] = /^(\S*)\* \S+ \{"lookups":(\d+)\}$/.exec(row) ?? [];
          expect(Number(lookups)).toBeGreaterThanOrEqual(5);
          expect(row).not.toContain("secret");
          expect([...held.keys()].filter((each) => isBelow(each, key)).length).toBeGreaterThan(4);
        }
        const hidden: string[] = [];
        for (const [key, isHit] of held) {
          const { present, key: stated } = await map.lookupSurt(key);
          if (isHit && !present && stated !== undefined) hidden.push(key);
        }
        expect(hidden).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it("needs nothing above a void, as of a domain that nothing was found in", async () => {
    const learner = learnerOf();
    look(learner, "com,empty)/x/", 320, () => false);
    look(learner, "org,held)/", 20, () => true);
    const bytes = learntMap(learner, "a", DESCRIPTION) ?? new Uint8Array(0);
    expect(new TextDecoder().decode(bytes)).toContain("com,empty)/* 0 ");
    expect(await faultsOf(bytes)).toEqual([]);
  });

  it("is where another begins, once, and what it sees itself outweighs it", () => {
    const first = learnerOf();
    look(first, "org,held)/news/", 400, (i) => i % 2 === 0);
    look(first, "org,empty)/x/", 4000, () => false);
    const map = mapOf(first);
    const other = learnerOf();
    const nothing = chanceOf(other, "org,held)/news/new");
    const source = "https://first.example/maps/a";
    expect(takeLearntMap(other, "a", map, source)).toBeGreaterThan(5);
    expect(chanceOf(other, "org,held)/news/new")).toBeGreaterThan(5 * nothing);
    expect(chanceOf(other, "org,empty)/x/new")).toBeLessThan(nothing / 5);
    expect(other.explain(0).reason).toMatch(/^0 of \d+ lookups under org,empty\)/);
    const again = learnerOf();
    restoreSnapshot(again, snapshotOf(other), "snapshot");
    for (const learner of [other, again]) {
      const before = chanceOf(learner, "org,empty)/x/new");
      expect(takeLearntMap(learner, "a", map, source)).toBe(0);
      expect(chanceOf(learner, "org,empty)/x/new")).toBe(before);
    }
    // The archive has it by now.
    look(other, "org,empty)/x/new", 150, () => true);
    expect(chanceOf(other, "org,empty)/x/last")).toBeGreaterThan(0.4);
  });

  it("takes nothing from maps that are no samples, and nothing odd", () => {
    const text = (meta: string, rows: string): MemoryIndex =>
      MemoryIndex.build(new TextEncoder().encode(`!meta ${meta}\n${rows}\n`));
    const take = (map: MemoryIndex): number => takeLearntMap(learnerOf(), "a", map, "x");
    expect(take(text("{}", 'org,x)/* 4 {"lookups":9}'))).toBe(0);
    expect(take(text('{"sample":true}', "org,x)/* 4"))).toBe(0);
    expect(take(text('{"sample":true}', 'org,x)/* 4 {"lookups":-9}'))).toBe(0);
    expect(take(text('{"sample":true}', 'org,x)/a 4 {"lookups":9}'))).toBe(0);
    expect(take(text('{"sample":true}', 'org,x)/* / {"lookups":9}'))).toBe(0);
    expect(take(text('{"sample":true,"misses":[1]}', 'org,x)/* 0 {"lookups":"9"}'))).toBe(0);
    expect(take(text('{"sample":true,"misses":{"com,*":9}}', "org,x)/* 4"))).toBe(1);
    const most = Number.MAX_SAFE_INTEGER;
    expect(take(text('{"sample":true}', `org,x)/* 4 {"lookups":${most}}`))).toBe(1);
  });
});

function isBelow(key: string, prefix: string): boolean {
  if (prefix === "" || key.startsWith(prefix)) return true;
  // `com,a,` is the host `com,a)`, too; a page with a query is a folder.
  return (
    (prefix.endsWith(",") && key.startsWith(`${prefix.slice(0, -1)})`)) ||
    key.startsWith(`${prefix.slice(0, -1)}?`)
  );
}

function chanceOf(learner: Learner, key: string): number {
  learner.look(key);
  return learner.chanceOf(0);
}
