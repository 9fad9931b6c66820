import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentAnswers } from "../../../src/aggregate/service/recent-answers.ts";
import type { ForwardedAnswer } from "../../../src/http/socket-forward.ts";

function answer(fields: readonly string[], bytes = 10): ForwardedAnswer {
  return { status: 200, fields, body: new Uint8Array(bytes) };
}

function ageOf(found: ForwardedAnswer | undefined): number {
  const at = found?.fields.findIndex((name) => name.toLowerCase() === "age") ?? -1;
  return at === -1 ? 0 : Number(found?.fields[at + 1]);
}

const FRESH = ["Cache-Control", "public, max-age=600"];

describe("answers of the last ten seconds", () => {
  it("are those that came last, with their age", () => {
    const steps = fc.array(
      fc.record({
        key: fc.constantFrom("a", "b", "c"),
        isPut: fc.boolean(),
        ms: fc.integer({ min: 0, max: 6000 }),
        age: fc.option(fc.integer({ min: 1, max: 100 })),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        let now = 0;
        const recent = new RecentAnswers(() => now);
        const last = new Map<string, { age: number; at: number; given: ForwardedAnswer }>();
        for (const { key, isPut, ms, age } of all) {
          now += ms;
          if (isPut) {
            const aged = age === null ? [] : ["age", String(age)];
            const given = answer(["Cache-Control", `public, max-age=${600 + (age ?? 0)}`, ...aged]);
            recent.put(key, given);
            last.set(key, { age: age ?? 0, at: now, given });
            continue;
          }
          const known = last.get(key);
          const isRecent = known !== undefined && now - known.at < 10_000;
          const found = recent.find(key);
          expect(found?.body).toBe(isRecent ? known.given.body : undefined);
          const seconds = isRecent ? Math.floor((now - known.at) / 1000) : 0;
          expect(ageOf(found)).toBe(isRecent ? known.age + seconds : 0);
        }
      }),
    );
  });

  it.each([
    ["says nothing of caches", []],
    ["lacks an archive", ["cache-control", "no-cache"]],
    ["may not be stored", ["Cache-Control", "no-store"]],
    ["is fresh for less than that", ["Cache-Control", "public, max-age=9"]],
    ["will soon be stale", ["Age", "595", "Cache-Control", "public, max-age=600"]],
  ])("has none that %s", (_why, fields) => {
    const recent = new RecentAnswers(() => 0);
    recent.put("key", answer(FRESH));
    recent.put("key", answer(fields));
    expect(recent.find("key")).toBeUndefined();
  });

  it("takes 4 MiB at most, and forgets the oldest", () => {
    const recent = new RecentAnswers(() => 0);
    const keys = Array.from({ length: 100 }, (_, at) => `key ${at}`);
    for (const key of keys) recent.put(key, answer(FRESH, 60_000));
    const kept = keys.filter((key) => recent.find(key) !== undefined);
    expect(kept).toEqual(keys.slice(-kept.length));
    expect(kept.length * 60_000).toBeLessThan(4 * 2 ** 20);
    expect(kept.length).toBeGreaterThan(60);
    recent.put("long", answer(FRESH, 65_537));
    expect(recent.find("long")).toBeUndefined();
  });
});
