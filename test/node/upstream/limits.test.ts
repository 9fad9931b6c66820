import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Limits } from "../../../src/node/upstream/limits.ts";
import { WaitingLine } from "../../../src/node/upstream/waiting-line.ts";
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

  it("refuse at once when too many wait, and let nobody wait for ever", async () => {
    const { archive } = await rawArchive(() => undefined, { concurrency: 1 });
    const upstream = testUpstream({ maxWaiting: 2, totalTimeoutMs: 200, headersTimeoutMs: 200 });
    const ended: string[] = [];
    const asked = numbered(archive.timemap, 4).map((url, number) =>
      upstream.ask(timemapRequest(archive, { url })).catch((error: { code: string }) => {
        ended.push(`${number} ${error.code}`);
      }),
    );
    await Promise.all(asked);
    expect(ended).toEqual(["3 MM_REFUSED", "0 MM_HTTP", "1 MM_HTTP", "2 MM_HTTP"]);
    expect(upstream.stateOf(archive)).toMatchObject({ requestsUnderWay: 0, requestsWaiting: 0 });
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

  it("serve in the order of coming, whoever leaves", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("push", "shift", "delete"), { maxLength: 4000 }),
        (steps) => {
          const line = new WaitingLine<number>();
          const model: number[] = [];
          const shifted: [number | undefined, number | undefined][] = [];
          steps.forEach((step, number) => {
            if (step === "push") {
              line.push(number);
              model.push(number);
            } else if (step === "shift") {
              shifted.push([line.shift(), model.shift()]);
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
    const limits = new Limits({ concurrency: 1, rate: undefined, maxWaiting: 1e6, now: () => 0 });
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
