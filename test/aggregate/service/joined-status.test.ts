import { describe, expect, it } from "vitest";
import { bySpan, SPANS } from "../../../src/aggregate/span-ring.ts";
import { joinedHealth } from "../../../src/aggregate/service/service-health.ts";
import {
  endedSnapshot,
  JoinedStatus,
  type StatusSnapshot,
} from "../../../src/aggregate/service/service-status.ts";
import {
  type Aggregating,
  aggregating,
  type LocalArchive,
  localArchive,
  plainArchive,
} from "../../support/aggregating.ts";

const BOTH = { wanted: 2, running: 2 };

/** As another process gets it. */
function snapshotOf({ service }: Aggregating): StatusSnapshot {
  return structuredClone(service.snapshot());
}

async function failing(): Promise<LocalArchive & { fail: (isFailing: boolean) => void }> {
  let isFailing = false;
  const archive = await localArchive("odd", (_request, response) => {
    response.writeHead(isFailing ? 500 : 404).end();
  });
  return {
    ...archive,
    fail(value) {
      isFailing = value;
    },
  };
}

async function ask({ url }: Aggregating, times: number = 1): Promise<void> {
  for (let i = 0; i < times; i++) await fetch(`${url}/timemap/link/http://example.org/${i}`);
}

describe("what several processes know", () => {
  it("is added, and the worst of it shown", async () => {
    const odd = await failing();
    const archives = [odd, await plainArchive("one", ["20050101000000"])];
    const a = await aggregating(archives);
    const b = await aggregating(archives);
    await ask(a, 2);
    odd.fail(true);
    await ask(b, 3);
    const joined = new JoinedStatus([snapshotOf(a), snapshotOf(b)]);
    expect(joined.routing()).toMatchObject({ sessions: 5, asked: 10, hits: 5 });
    const [first, second] = joined.archives();
    expect(first).toMatchObject({
      tally: { asked: 5, misses: 2, errors: 3 },
      upstream: { consecutiveFailures: 3 },
      counters: { requests: 5, failingAnswers: 3 },
    });
    expect(second).toMatchObject({ tally: { hits: 5, mementos: 5 }, counters: { requests: 5 } });
    expect(second?.tally.latencies.reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  it("has the counts of those that ended, and not how they were", async () => {
    const odd = await failing();
    odd.fail(true);
    const archives = [odd, await plainArchive("one", ["20050101000000"])];
    const a = await aggregating(archives);
    const b = await aggregating(archives);
    await ask(a, 2);
    await ask(b, 1);
    const learning = {
      promised: 0.9,
      lookups: 9,
      answers: 9,
      hits: undefined,
      mementos: undefined,
    };
    const last = { ...snapshotOf(a), learning: { ...learning, spared: [], archives: [] } };
    const ended = endedSnapshot(last, endedSnapshot(last, undefined));
    const joined = new JoinedStatus([snapshotOf(b), ended]);
    expect(joined.routing()).toMatchObject({ sessions: 5, asked: 10 });
    expect(joined.learning()).toBeUndefined();
    expect(joined.load).toEqual({ underWay: 0, waiting: 0 });
    expect(joined.archives()[0]).toMatchObject({
      tally: { asked: 5, errors: 5 },
      upstream: { consecutiveFailures: 1 },
      counters: { requests: 5 },
    });
  });

  it("keeps the history of those that ended, at the minutes and hours of which it is", async () => {
    const archives = [await plainArchive("one", ["20050101000000"])];
    const idle = snapshotOf(await aggregating(archives));
    // Thirty minutes into an hour.
    const start = 3_600_000 * 1000 + 1_800_000;
    const lastOf = <Value>(name: keyof typeof SPANS, value: Value, empty: Value): Value[] =>
      Array.from({ length: SPANS[name].count }, (_, i) =>
        i === SPANS[name].count - 1 ? value : empty,
      );
    /** Of a process that was asked some times in a minute. */
    const snapshotAt = (minutes: number, asked: number): StatusSnapshot => ({
      ...idle,
      at: start + minutes * 60_000,
      recalls: bySpan((name) => lastOf<number | null>(name, 0.9, null)),
      archives: idle.archives.map((status) => {
        const history = bySpan((name) => {
          const counts = lastOf(name, asked, 0);
          return { asked: counts, spared: counts, hits: counts };
        });
        const lastHour = history.minutes.asked;
        return { ...status, tally: { ...status.tally, asked, lastHour, history } };
      }),
    });
    const first = endedSnapshot(snapshotAt(0, 2), undefined, start + 60_000);
    const ended = endedSnapshot(snapshotAt(2, 2), first, start + 180_000);
    const live = { ...snapshotAt(31, 1), recalls: undefined };
    const joined = new JoinedStatus([live, ended], start + 31 * 60_000);
    const asked = (minutes: number): (number | undefined)[] => {
      const { history, lastHour } = joined.archives()[0]?.tally ?? {};
      expect(history?.minutes.asked).toEqual(lastHour);
      return [lastHour?.at(-1 - minutes), history?.minutes.hits.at(-1 - minutes)];
    };
    expect([0, 28, 29, 30, 31, 32].map(asked)).toEqual([
      [1, 1],
      [0, 0],
      [2, 2],
      [0, 0],
      [2, 2],
      [0, 0],
    ]);
    expect(joined.archives()[0]?.tally).toMatchObject({ asked: 5 });
    expect(joined.archives()[0]?.tally.history.hours.asked.slice(-3)).toEqual([0, 4, 1]);
    expect(joined.recalls().minutes.slice(-32, -28)).toEqual([0.9, null, 0.9, null]);
    const late = new JoinedStatus([live, ended], start + 4 * 86_400_000).archives()[0]?.tally;
    expect(late?.history.hours.asked.every((count) => count === 0)).toBe(true);
  });

  it("makes a service failing only if all of them are, and degraded if one is missing", async () => {
    const odd = await failing();
    const a = await aggregating([odd]);
    const b = await aggregating([odd]);
    await ask(a);
    expect(joinedHealth([snapshotOf(a), snapshotOf(b)], BOTH)).toMatchObject({ status: "ok" });
    odd.fail(true);
    await ask(b);
    expect(joinedHealth([snapshotOf(a), snapshotOf(b)], BOTH)).toMatchObject({
      status: "degraded",
      problems: [{ archive: "odd", problem: "failing" }],
    });
    expect(joinedHealth([snapshotOf(a)], { wanted: 2, running: 1 })).toMatchObject({
      status: "degraded",
      problems: [{ problem: "worker-missing" }],
    });
    await ask(a, 2);
    expect(joinedHealth([snapshotOf(a), snapshotOf(b)], BOTH)).toMatchObject({ status: "failing" });
  });

  it("tells when less is kept than was promised, and not while that is uncertain", async () => {
    const a = await aggregating([await plainArchive("one", ["20050101000000"])]);
    const problemsOf = (low: number, high: number): readonly string[] => {
      const kept = { value: (low + high) / 2, low, high };
      const counts = { lookups: 900, answers: 900, spared: [], archives: [] };
      const learning = { promised: 0.98, hits: kept, mementos: undefined, ...counts };
      const { problems } = joinedHealth([{ ...snapshotOf(a), learning }], {
        wanted: 1,
        running: 1,
      });
      return problems.map(({ problem }) => problem);
    };
    expect(problemsOf(0.93, 0.973)).toEqual(["recall-missed"]);
    expect(problemsOf(0.93, 0.985)).toEqual([]);
  });
});
