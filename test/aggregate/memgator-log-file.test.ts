import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemgatorLog, type MemgatorOutcome } from "../../src/input/memgator-log.ts";
import { MemgatorLogFile } from "../../src/aggregate/memgator-events.ts";
import { archive, outcome, session } from "../support/sessions.ts";
import { scratchDir } from "../support/scratch.ts";

const NOW = new Date(2016, 5, 9, 12, 0, 0, 123);

function readBack(text: string): {
  outcomes: MemgatorOutcome[];
  ambiguous: number;
  slept: string[];
} {
  const slept: string[] = [];
  const log = new MemgatorLog({ slept: (id) => slept.push(id) });
  const outcomes = text.split("\n").flatMap((line) => log.read(line) ?? []);
  return { outcomes, ambiguous: log.ambiguous, slept };
}

describe("MemgatorLogFile", () => {
  it("writes the lines of MemGator", () => {
    const path = join(scratchDir(), "memgator.log");
    const file = new MemgatorLogFile(path, { now: () => NOW });
    const one = session();
    const ia = archive("ia");
    file.began(one);
    file.answered(one, outcome({ result: "hit", mementos: 42, archive: ia }));
    file.answered(one, outcome({ result: "miss", archive: archive("loc") }));
    const fault = "no complete response\nwithin 60 s";
    file.answered(
      one,
      outcome({ result: "error", status: undefined, fault, archive: archive("pt") }),
    );
    const end = { mementos: 42, answeredAt: one.startedAt + 1200, endedAt: one.startedAt + 1234.5 };
    file.ended(one, end);
    file.slept(ia, 5);
    file.close();
    const stamp = "2016/06/09 12:00:00.123000";
    const at = {
      start: "1465473600123500000",
      answer: "1465473601323500000",
      end: "1465473601358000000",
    };
    type Moment = keyof typeof at;
    const event = (origin: string, role: string, info: string, from: Moment, to: Moment): string =>
      `BENCHMARK: ${stamp} 1465473600123456789 {"origin": "${origin}", "role": "${role}", "info": "${info}", "start": ${at[from]}, "end": ${at[to]}}`;
    const fetched = (id: string, info: string): string =>
      event(id, "timemapfetch", `${info} - Duration: 1.2s`, "start", "answer");
    const [all, sorted] = ["AGGREGATOR", "42 Mementos accumulated and sorted - Duration: 34.5ms"];
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toEqual([
      event(all, "createsess", "Session created - Duration: 0s", "start", "start"),
      `INFO: ${stamp} Aggregating Mementos for http://example.org/`,
      fetched("ia", "TimeMap fetched from Archive ia"),
      event(
        "ia",
        "extractmementos",
        "42 Mementos extracted from Archive ia - Duration: 0s",
        "answer",
        "answer",
      ),
      `INFO: ${stamp} ia => Success: 42 mementos`,
      fetched("loc", "Response error in Archive loc, Status: 404"),
      `INFO: ${stamp} loc => Response error: 404`,
      fetched("pt", "Network error in Archive pt"),
      `ERROR: ${stamp} main.go:0: pt => Network error: no complete response within 60 s`,
      event(all, "aggregate", sorted, "answer", "end"),
      event("SESSION", "timemap", "Complete session - Duration: 1.235s", "start", "end"),
      `INFO: ${stamp} Total Mementos: 42 in 1.235s`,
      `INFO: ${stamp} ia => Dormant after 5 consecutive failures`,
    ]);
    expect(readBack(readFileSync(path, "utf8"))).toEqual({
      outcomes: [
        { archive: "ia", uri: "http://example.org/", result: "hit", mementos: 42 },
        { archive: "loc", uri: "http://example.org/", result: "miss", mementos: 0 },
        { archive: "pt", uri: "http://example.org/", result: "error", mementos: 0 },
      ],
      ambiguous: 0,
      slept: ["ia"],
    });
  });

  it("joins answers and URIs with certainty, however sessions are mixed", () => {
    const folder = scratchDir();
    let runs = 0;
    const step = fc.record({
      session: fc.nat({ max: 5 }),
      archive: fc.constantFrom("ia", 'say "hi"', "a b"),
      result: fc.constantFrom("hit" as const, "miss" as const, "error" as const),
      cached: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const path = join(folder, `${(runs += 1)}.log`);
        const file = new MemgatorLogFile(path);
        const sessions = Array.from({ length: 6 }, (_, i) =>
          session({ id: String(1e18 + i * 1000), uri: `http://example.org/${i}?a=1,2 => x` }),
        );
        const begun = new Set<number>();
        const expected: MemgatorOutcome[] = [];
        for (const { session: number, archive: id, result, cached } of steps) {
          const one = sessions[number];
          if (!begun.has(number)) file.began(one);
          begun.add(number);
          const of = { ...archive("x"), id: id.replaceAll(/\W/g, ""), name: id };
          const answered = outcome({ result, archive: of, origin: cached ? "cache" : "network" });
          file.answered(one, answered);
          const { mementos } = answered;
          expected.push({ archive: of.id, uri: one.uri, result, mementos });
        }
        file.close();
        expect(readBack(readFileSync(path, "utf8"))).toMatchObject({
          outcomes: expected,
          ambiguous: 0,
        });
      }),
      { numRuns: 50 },
    );
  });

  it("goes on in a new file when the old one was moved away", () => {
    const path = join(scratchDir(), "memgator.log");
    const file = new MemgatorLogFile(path);
    file.slept(archive("a"), 5);
    file.flush();
    renameSync(path, `${path}.1`);
    file.slept(archive("b"), 5);
    file.reopen();
    file.woke(archive("b"));
    file.close();
    expect(readFileSync(`${path}.1`, "utf8")).toMatch(/a => Dormant[^]*b => Dormant/);
    expect(readFileSync(path, "utf8")).toMatch(/^INFO: .* b => Awake after \S+s\n$/);
  });

  it("says which file it cannot write, and goes on", () => {
    expect(() => new MemgatorLogFile("/nowhere/x.log")).toThrow(
      /the folder \/nowhere does not exist/,
    );
  });
});
