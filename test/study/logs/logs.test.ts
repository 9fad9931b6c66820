import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LogReport, magnitude, MAGNITUDES } from "../../../src/study/logs/log-report.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import type { Session } from "./memgator-lines.ts";
import { interleaved, memgatorLog } from "./memgator-lines.ts";
import { cases } from "../../support/cases.ts";

async function logs(text: string, args: readonly string[] = []): Promise<LogReport> {
  const { code, stdout, stderr } = await runCli(
    ["logs", "-q", "--json", "--memory", "1m", ...args],
    {
      stdin: text,
    },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as LogReport; // what the command writes
}

const uri = fc
  .tuple(fc.constantFrom("a.com", "www.a.com", "b.org"), fc.constantFrom("/", "/x", "/x?q=1"))
  .map(([host, path]) => `http://${host}${path}`);
const reply = fc.record({
  archive: fc.constantFrom("ia", "pt", "loc"),
  mementos: fc.constantFrom(0, 0, 0, 1, 7, 12, 340, "error" as const),
});
const sessions: fc.Arbitrary<Session[]> = fc.array(
  fc.record({
    uri,
    replies: fc.uniqueArray(reply, { selector: ({ archive }) => archive }),
  }),
  { minLength: 1, maxLength: 40 },
);
const holdings = fc.array(uri, { maxLength: 60 });

/** The most mementos any answer had; undefined where an archive that was asked never answered. */
function mostMementos(own: readonly Session[], all: readonly Session[]): number | undefined {
  const replies = own.flatMap((session) => session.replies);
  const known = replies.flatMap(({ mementos }) => (mementos === "error" ? [] : [mementos]));
  const most = Math.max(0, ...known);
  if (most > 0) return most;
  const answers = (list: readonly Session[], archive: string): boolean =>
    list.some((session) =>
      session.replies.some((one) => one.archive === archive && one.mementos !== "error"),
    );
  // An archive that never answers anything is not waited for.
  const isOpen = replies.some(({ archive }) => !answers(own, archive) && answers(all, archive));
  return isOpen || known.length === 0 ? undefined : 0;
}

describe("logs, beside a naive count", () => {
  it("counts requests, hits, misses and errors of each archive", async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (list) => {
        const report = await logs(memgatorLog(list));
        const replies = list.flatMap((session) => session.replies);
        expect(report.counts.requests).toBe(list.length);
        expect(report.all.requests).toBe(replies.length);
        for (const row of report.archives) {
          const own = replies.filter(({ archive }) => archive === row.archive);
          expect(row.requests).toBe(own.length);
          expect(row.errors).toBe(own.filter(({ mementos }) => mementos === "error").length);
          expect(row.misses).toBe(own.filter(({ mementos }) => mementos === 0).length);
          expect(row.hits + row.misses + row.errors).toBe(row.requests);
          expect(row.hitShare).toBeCloseTo(row.hits / row.requests, 10);
        }
        const shares = report.archives.map(({ hitShare }) => hitShare);
        expect(shares).toEqual(shares.toSorted((a, b) => b - a));
      }),
      { numRuns: cases(25) },
    );
  });

  it("crosses what was asked for with what archives answered", async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (list) => {
        const report = await logs(memgatorLog(list));
        const cells = MAGNITUDES.map(() => MAGNITUDES.map(() => 0));
        const missing = new Map<string, number>();
        let unknown = 0;
        for (const original of new Set(list.map((session) => surt(session.uri)))) {
          const own = list.filter((session) => surt(session.uri) === original);
          const most = mostMementos(own, list);
          if (most === undefined) {
            unknown++;
            continue;
          }
          const row = cells[magnitude(most)];
          if (row !== undefined) row[magnitude(own.length)] += 1;
          if (most === 0) missing.set(original, own.length);
        }
        const found = report.overlap.cells.map((row) => row.map((cell) => cell ?? 0));
        expect(found).toEqual(cells);
        expect(report.unknown).toBe(unknown);
        expect(new Map(report.missing.map((row) => [row.surt, row.requests]))).toEqual(missing);
        for (const row of report.missing) expect(surt(row.uri)).toBe(row.surt);
      }),
      { numRuns: cases(25) },
    );
  });

  it("crosses what was asked for with an index", async () => {
    await fc.assert(
      fc.asyncProperty(sessions, holdings, async (list, held) => {
        const index = join(scratchDir(), "index.cdxj");
        const rows = held.map(
          (url, i) => `${surt(url)} ${20_100_101_000_000 + i} {"url":"${url}"}`,
        );
        writeFileSync(index, `${rows.join("\n")}\n`);
        const report = await logs(memgatorLog(list), ["--holdings", index]);
        const cells = MAGNITUDES.map(() => MAGNITUDES.map(() => 0));
        for (const original of new Set([...list.map((s) => s.uri), ...held].map((u) => surt(u)))) {
          const asked = list.filter((session) => surt(session.uri) === original).length;
          const archived = held.filter((url) => surt(url) === original).length;
          const row = cells[magnitude(archived)];
          if (row !== undefined) row[magnitude(asked)] += 1;
        }
        expect(report.overlap.cells[0]?.[0]).toBeNull();
        expect(report.overlap.cells.map((row) => row.map((cell) => cell ?? 0))).toEqual(cells);
      }),
      { numRuns: cases(15) },
    );
  });
});

const ARCHIVES = ["ia", "pt", "loc"];
/** A client's request: what each archive answers, and in which order. */
const concurrent = fc.array(
  fc.record({
    uri: fc.constantFrom(...Array.from({ length: 8 }, (_, i) => `http://a.com/${i}`)),
    replies: fc.tuple(
      ...ARCHIVES.map((archive) =>
        fc.record({
          archive: fc.constant(archive),
          mementos: fc.constantFrom(0, 0, 0, 0, 5, "error" as const),
        }),
      ),
    ),
  }),
  { minLength: 1, maxLength: 25 },
);
const turns = fc.infiniteStream(fc.nat({ max: 1000 }));

describe("logs of concurrent clients", () => {
  it.each([
    ["without timings", false],
    ["with timings", true],
  ])("never calls a URI missing that an archive had, %s", async (_, hasTimings) => {
    let listed = 0;
    await fc.assert(
      fc.asyncProperty(concurrent, turns, fc.integer({ min: 1, max: 4 }), async (list, turn, n) => {
        const text = interleaved(list, { clients: n, turn: () => turn.next().value, hasTimings });
        const report = await logs(text);
        const had = (key: string): boolean =>
          list.some(
            ({ uri: asked, replies }) =>
              surt(asked) === key && replies.some(({ mementos }) => Number(mementos) > 0),
          );
        expect(report.missing.filter((row) => had(row.surt))).toEqual([]);
        const originals = new Set(list.map((session) => surt(session.uri)));
        expect(report.asked + report.unknown).toBe(originals.size);
        expect(report.askedAndHeld).toBeLessThanOrEqual([...originals].filter(had).length);
        listed += report.missing.length;
        // One client at a time, or sessions that are named: nothing is lost but what failed.
        if (n > 1 && !hasTimings) return;
        expect(report.askedAndHeld).toBe([...originals].filter(had).length);
      }),
      { numRuns: cases(60) },
    );
    expect(listed).toBeGreaterThan(0);
  });

  it("leaves a URI open while other answers are", async () => {
    const stamp = "INFO: 2016/06/09 12:00:00.123456";
    const lines = [
      "Aggregating Mementos for http://a.com/1",
      "pt => Response error: 404 Not Found", // certain: nothing else was asked
      "Aggregating Mementos for http://a.com/2",
      "ia => Success: 7 mementos", // of either
      "ia => Success: 9 mementos",
      "pt => Response error: 404 Not Found",
    ];
    const report = await logs(lines.map((line) => `${stamp} ${line}\n`).join(""));
    expect(report.missing).toEqual([]);
    expect(report).toMatchObject({ asked: 0, unknown: 2, unknownShare: 1 });
    const { stdout } = await runCli(["logs", "-q"], {
      stdin: lines.map((line) => `${stamp} ${line}\n`).join(""),
    });
    expect(stdout).toMatch(/^Originals unknown: responses failed or pending +2$/m);
  });

  it("does not wait for an archive that sleeps, or that never answers", async () => {
    const stamp = "INFO: 2016/06/09 12:00:00.123456";
    const lines = [
      "Aggregating Mementos for http://a.com/1",
      "ia => Success: 7 mementos",
      "pt => Success: 7 mementos",
      "uk => Network error: timeout",
      "pt => Dormant after 5 consecutive failures",
      "Aggregating Mementos for http://a.com/2",
      "ia => Response error: 404 Not Found",
      "uk => Network error: timeout",
    ];
    const report = await logs(lines.map((line) => `${stamp} ${line}\n`).join(""));
    expect(report.missing.map((row) => row.uri)).toEqual(["http://a.com/2"]);
    expect(report).toMatchObject({ asked: 2, askedAndHeld: 1, unknown: 0 });
  });
});

describe("the command logs", () => {
  const log = memgatorLog([
    { uri: "http://a.com/", replies: [{ archive: "ia", mementos: 3 }] },
    { uri: "http://a.com/gone", replies: [{ archive: "ia", mementos: 0 }] },
    { uri: "http://www.a.com/gone", replies: [{ archive: "pt", mementos: 0 }] },
    { uri: "http://www.a.com/gone", replies: [{ archive: "pt", mementos: "error" }] },
  ]);

  it("shows the paper's table, in 80 columns", async () => {
    const { code, stdout } = await runCli(["logs", "-q"], { stdin: log });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ia +2 +50\.00 +50\.00 +0\.00 +0$/m);
    expect(stdout).toMatch(/^pt +2 +0\.00 +50\.00 +50\.00 +0$/m);
    expect(stdout).toMatch(/^All +4 +25\.00 +50\.00 +25\.00 +0$/m);
    expect(stdout).toMatch(/^http:\/\/www\.a\.com\/gone +3$/m);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("counts sleeps", async () => {
    const stamp = "INFO: 2016/06/09 12:00:00.123456";
    const sleep = `${stamp} pt => Dormant after 5 consecutive failures | Awake after 15m0s\n`;
    const report = await logs(log + sleep + sleep);
    expect(report.archives.find(({ archive }) => archive === "pt")?.sleeps).toBe(2);
  });

  it("looks at one archive only, and refuses one that is not there", async () => {
    const report = await logs(log, ["--archive", "pt"]);
    expect(report.missing.map(({ surt: key }) => key)).toEqual(["com,a)/gone"]);
    expect(report.asked).toBe(1);
    const refused = await runCli(["logs", "--archive", "uk"], { stdin: log });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/do not mention archive "uk"; they have: ia, pt \[MM_USAGE\]/);
  });

  it("refuses what is not a log", async () => {
    const { code, stderr } = await runCli(["logs"], { stdin: "com,a)/ 2016 {}\n" });
    expect(code).toBe(2);
    expect(stderr).toMatch(/no line is from a MemGator log/);
  });
});
