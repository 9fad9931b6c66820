import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentAnswers } from "../../../src/aggregate/service/recent-answers.ts";
import type { Decision, RouteReason } from "../../../src/aggregate/route/decision.ts";
import type { Outcome, Session } from "../../../src/aggregate/session.ts";
import type { ForwardedAnswer } from "../../../src/http/socket-forward.ts";

function answer(fields: readonly string[], bytes = 10, first = 0): ForwardedAnswer {
  return { status: 200, fields, body: new Uint8Array(bytes).fill(first, 0, 1) };
}

const ORIGINAL = "http://example.org/";
/** Keys have two lines. */
const KEY = "a\nkey";

function outcome(reason: RouteReason, result: Outcome["result"]): Outcome {
  const decision = { reason } as Decision;
  return { decision, result } as Outcome; // it looks at nothing else
}

function ageOf(found: ForwardedAnswer | undefined): number {
  const at = found?.fields.findIndex((name) => name.toLowerCase() === "age") ?? -1;
  return at === -1 ? 0 : Number(found?.fields[at + 1]);
}

const FRESH = ["Cache-Control", "public, max-age=600"];

describe("answers of the last minute", () => {
  it("are those that came last, with their age", () => {
    const steps = fc.array(
      fc.record({
        key: fc.constantFrom("*/*\na", "*/*\nb", "text/html\na"),
        isPut: fc.boolean(),
        ms: fc.integer({ min: 0, max: 36_000 }),
        age: fc.option(fc.integer({ min: 1, max: 100 })),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        let now = 0;
        const recent = new RecentAnswers(() => now);
        const last = new Map<string, { age: number; at: number; given: ForwardedAnswer }>();
        for (const [place, { key, isPut, ms, age }] of all.entries()) {
          now += ms;
          if (isPut) {
            const aged = age === null ? [] : ["age", String(age)];
            const fields = ["Cache-Control", `public, max-age=${600 + (age ?? 0)}`, ...aged];
            const given = answer(fields, 10, place);
            recent.put(key, given);
            last.set(key, { age: age ?? 0, at: now, given });
            continue;
          }
          const known = last.get(key);
          const isRecent = known !== undefined && now - known.at < 60_000;
          const found = recent.find(key, ORIGINAL);
          expect(found?.body).toEqual(isRecent ? known.given.body : undefined);
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
    ["is fresh for less than that", ["Cache-Control", "public, max-age=59"]],
    ["will soon be stale", ["Age", "595", "Cache-Control", "public, max-age=600"]],
  ])("has none that %s", (_why, fields) => {
    const recent = new RecentAnswers(() => 0);
    recent.put(KEY, answer(FRESH));
    recent.put(KEY, answer(fields));
    expect(recent.find(KEY, ORIGINAL)).toBeUndefined();
  });

  it("takes 16 MiB at most, and forgets the oldest", () => {
    const recent = new RecentAnswers(() => 0);
    const keys = Array.from({ length: 400 }, (_, at) => `key\n${at}`);
    for (const key of keys) recent.put(key, answer(FRESH, 60_000));
    // From the last on: what is found again moves to the front, and something else goes.
    const kept = keys
      .toReversed()
      .filter((key) => recent.find(key, ORIGINAL) !== undefined)
      .toReversed();
    expect(kept).toEqual(keys.slice(-kept.length));
    expect(kept.length * 60_000).toBeLessThan(16 * 2 ** 20);
    expect(kept.length).toBeGreaterThan(200);
    recent.put(KEY, answer(FRESH, 65_537));
    expect(recent.find(KEY, ORIGINAL)).toBeUndefined();
  });

  it("are outdated when an archive that was not waited for has something of the original", () => {
    let now = 0;
    const recent = new RecentAnswers(() => now);
    const session = { uri: ORIGINAL } as Session; // it looks at nothing else
    recent.put(KEY, answer(FRESH));
    recent.put("other\nkey", answer(FRESH));
    recent.answered(session, outcome("likely", "hit"));
    recent.answered(session, outcome("explored", "miss"));
    expect(recent.find(KEY, ORIGINAL)).toBeDefined();
    now = 1000;
    recent.answered(session, outcome("explored", "hit"));
    expect(recent.find(KEY, ORIGINAL)).toBeUndefined();
    expect(recent.find("other\nkey", "http://example.org/other")).toBeDefined();
    now = 2000;
    recent.put(KEY, answer(FRESH));
    expect(recent.find(KEY, ORIGINAL)).toBeDefined();
    recent.clear();
    expect(recent.find(KEY, ORIGINAL)).toBeUndefined();
  });
});
