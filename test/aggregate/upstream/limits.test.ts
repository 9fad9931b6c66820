import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Limits, FifoQueue } from "../../../src/aggregate/upstream/limits.ts";
import {
  askWhole,
  httpAnswer,
  numbered,
  rawArchive,
  testUpstream,
  timemapRequest,
} from "./raw-archive.ts";

describe("limits", () => {
  it("never let more requests be under way, nor more connections be open", async () => {
    let underWay = 0;
    let most = 0;
    const { archive, connections } = await rawArchive(
      (socket, number) => {
        underWay += 1;
        most = Math.max(most, underWay);
        setTimeout(() => {
          underWay -= 1;
          socket.write(httpAnswer(200, `${number}`));
        }, 2);
      },
      { concurrency: 3 },
    );
    const upstream = testUpstream();
    const asked = numbered(archive.timemap, 40).map((url) =>
      askWhole(upstream, timemapRequest(archive, { url })),
    );
    expect(upstream.stateOf(archive)).toMatchObject({ requestsUnderWay: 3, requestsWaiting: 37 });
    const answers = await Promise.all(asked);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(most).toBe(3);
    expect(connections()).toBe(3);
  });

  it.each([
    [{ concurrency: 8 }, 256, 2],
    [{ concurrency: 1 }, 256, 1],
    [{}, 256, 4],
    [{}, 12, 3],
  ])("are divided among the processes that ask: %j of %i", async (entry, concurrency, share) => {
    const { archive } = await rawArchive(() => undefined, entry);
    const upstream = testUpstream({ concurrency, share: 1 / 4 });
    const asked = numbered(archive.timemap, 20).map((url) =>
      askWhole(upstream, timemapRequest(archive, { url })).catch(() => undefined),
    );
    expect(upstream.stateOf(archive)).toMatchObject({ requestsUnderWay: share });
    await upstream.close();
    await Promise.all(asked);
  });

  it("refuse at once when too many wait, and let nobody wait for ever", async () => {
    const { archive } = await rawArchive(() => undefined, { concurrency: 1 });
    const upstream = testUpstream({ maxWaiting: 2, totalTimeoutMs: 400, headersTimeoutMs: 400 });
    const ended: string[] = [];
    const asked = numbered(archive.timemap, 4).map((url, number) =>
      upstream.ask(timemapRequest(archive, { url })).catch((error: { reason: string }) => {
        ended.push(`${number} ${error.reason}`);
      }),
    );
    await Promise.all(asked);
    expect(ended[0]).toBe("3 queue-full");
    expect(ended.toSorted()).toEqual([
      "0 timeout",
      "1 queue-timeout",
      "2 queue-timeout",
      "3 queue-full",
    ]);
    expect(upstream.stateOf(archive)).toMatchObject({ requestsUnderWay: 0, requestsWaiting: 0 });
  });

  it("refuse at once a request that would wait too long, judging by how long answers take", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 20_000 }),
        fc.integer({ min: 1, max: 5000 }),
        (concurrency, latencyMs, longestWaitMs) => {
          let now = 0;
          const options = { concurrency, rate: undefined, maxWaiting: 1e6, longestWaitMs };
          const limits = new Limits({ ...options, now: () => now });
          expect(limits.enter({ onTurn })).toBe("entered");
          now += latencyMs;
          limits.answered(latencyMs);
          limits.leave();
          let waiting = 0;
          for (let i = 0; i < 100_000; i++) {
            const outcome = limits.enter({ onTurn });
            if (outcome === "full") break;
            if (outcome === "waiting") waiting += 1;
          }
          // One more than fits is the one whose wait is just too long.
          const fits = (longestMs(latencyMs, longestWaitMs) * limits.concurrency) / latencyMs;
          expect(waiting).toBeLessThanOrEqual(fits + 1);
          expect(waiting).toBeGreaterThan(Math.min(fits, 99_000) - 1);
        },
      ),
      { numRuns: 50 },
    );
    function onTurn(): void {}
    function longestMs(latencyMs: number, most: number): number {
      return Math.min(most, Math.max(1000, latencyMs));
    }
  });

  it("grow while requests wait, and shrink when the archive is overloaded", () => {
    let now = 0;
    const options = { rate: undefined, maxWaiting: 1e6, longestWaitMs: 2000, now: () => now };
    const limits = new Limits({ concurrency: 256, ...options });
    expect(limits.concurrency).toBe(16);
    const onTurn = (): void => undefined;
    let rounds = 0;
    for (; limits.concurrency < 256 && rounds < 100; rounds++) {
      while (limits.enter({ onTurn }) !== "full" && limits.waiting < 1000);
      now += 3000;
      const { underWay } = limits;
      for (let i = 0; i < underWay; i++) {
        limits.answered(3000);
        limits.leave();
      }
    }
    expect(rounds).toBe(4); // doubled each time
    limits.overloaded();
    limits.overloaded(); // of the same moment
    expect(limits.concurrency).toBe(128);
    for (let i = 0; i < 20; i++) {
      now += 10_000;
      limits.overloaded();
    }
    expect(limits.concurrency).toBe(4);
    limits.close();
  });

  it("do not grow for a short queue while this process has no time for more", () => {
    let hasTime = false;
    const limits = new Limits({
      concurrency: 256,
      rate: undefined,
      maxWaiting: 1e6,
      longestWaitMs: 2000,
      hasTime: () => hasTime,
      now: () => 0,
    });
    while (limits.waiting < 100) limits.enter({ onTurn: () => undefined });
    limits.answered(1);
    expect(limits.concurrency).toBe(16);
    hasTime = true;
    limits.answered(1);
    expect(limits.concurrency).toBe(17);
    hasTime = false;
    limits.answered(3000);
    limits.answered(3000); // a hundred wait for an archive that takes its time
    expect(limits.concurrency).toBe(18);
    limits.close();
  });

  it("keep the distance between requests that a rate asks for", async () => {
    const times: number[] = [];
    const { archive } = await rawArchive(
      (socket) => {
        times.push(performance.now());
        socket.write(httpAnswer(404));
      },
      { rate: 50 },
    );
    const upstream = testUpstream();
    const urls = numbered(archive.timemap, 6);
    const start = performance.now();
    await Promise.all(urls.map((url) => askWhole(upstream, timemapRequest(archive, { url }))));
    times.forEach((time, number) => expect(time - start).toBeGreaterThan(20 * number - 2));
  });

  it("serve in order of arrival, even if some leave", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("push", "shift", "delete", "deleteAt"), { maxLength: 4000 }),
        (steps) => {
          const line = new FifoQueue<number>();
          const model: number[] = [];
          const pushed: { readonly item: number; readonly place: number }[] = [];
          const shifted: [number | undefined, number | undefined][] = [];
          steps.forEach((step, number) => {
            if (step === "push") {
              pushed.push({ item: number, place: line.push(number) });
              model.push(number);
            } else if (step === "shift") {
              shifted.push([line.shift(), model.shift()]);
            } else if (step === "deleteAt") {
              // Perhaps of one that is gone already.
              const { item, place } = pushed[number % (pushed.length || 1)] ?? {
                item: -1,
                place: 0,
              };
              line.deleteAt(place);
              if (model.includes(item)) model.splice(model.indexOf(item), 1);
            } else {
              const [gone = -1] = model.splice(Math.floor(model.length / 2), 1);
              line.delete(gone);
            }
            expect(line.size).toBe(model.length);
          });
          expect(shifted.map(([found]) => found)).toEqual(shifted.map(([, right]) => right));
        },
      ),
    );
  });

  it("do not run out of stack when thousands leave at their turn", () => {
    const limits = new Limits({
      concurrency: 1,
      rate: undefined,
      maxWaiting: 1e6,
      longestWaitMs: 1000,
      now: () => 0,
    });
    let turns = 0;
    const onTurn = (): void => {
      turns += 1;
      limits.leave();
    };
    expect(limits.enter({ onTurn })).toBe("entered");
    for (let at = 0; at < 100_000; at++) expect(limits.enter({ onTurn })).toBe("waiting");
    limits.leave();
    expect(turns).toBe(100_000);
    expect(limits).toMatchObject({ underWay: 0, waiting: 0 });
  });
});
