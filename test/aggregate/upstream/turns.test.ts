import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Limits } from "../../../src/aggregate/upstream/limits.ts";
import {
  type SharedLimits,
  TurnKeeper,
  type TurnRequest,
  TurnSource,
  TURNS_TOPIC,
} from "../../../src/aggregate/upstream/turns.ts";

interface Process {
  readonly limits: Limits;
  /** Asks the archive; the function returned tells that it has answered. */
  readonly ask: () => () => void;
  /** Requests that were begun. */
  readonly begun: () => number;
}

/** Two processes and the primary one, which hands out the turns of an archive. */
function processes(shared: SharedLimits): { keeper: TurnKeeper; all: Process[] } {
  const all: Process[] = [];
  const keeper = new TurnKeeper(
    (process) => all[process].limits.grant(),
    () => Date.now(),
  );
  for (const process of [0, 1]) {
    const bus = {
      publish(topic: string, message: unknown): void {
        expect(topic).toBe(TURNS_TOPIC);
        keeper.take(process, message as TurnRequest);
      },
      subscribe: () => undefined,
    };
    const limits = new Limits({
      concurrency: shared.concurrency,
      rate: shared.rate,
      turns: new TurnSource("a", shared, bus),
      maxWaiting: 100,
      longestWaitMs: 100_000,
      now: () => Date.now(),
    });
    let begun = 0;
    const ask = (): (() => void) => {
      const waiter = { onTurn: () => void (begun += 1) };
      if (limits.enter(waiter) === "entered") begun += 1;
      return () => limits.leave();
    };
    all.push({ limits, ask, begun: () => begun });
  }
  return { keeper, all };
}

describe("turns", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("keep the limit of all processes together, first come, first served", () => {
    const { all } = processes({ concurrency: 1, rate: undefined });
    const [one, two] = all;
    const leaveFirst = one.ask();
    const leaveSecond = two.ask();
    one.ask();
    expect([one.begun(), two.begun()]).toEqual([1, 0]);
    leaveFirst();
    expect([one.begun(), two.begun()]).toEqual([1, 1]);
    leaveSecond();
    expect([one.begun(), two.begun()]).toEqual([2, 1]);
  });

  it("keep the rate of all processes together", () => {
    const { all } = processes({ concurrency: 100, rate: 10 });
    const [one, two] = all;
    for (let count = 0; count < 5; count++) {
      one.ask();
      two.ask();
    }
    expect(one.begun() + two.begun()).toBe(1);
    vi.advanceTimersByTime(450);
    expect(one.begun() + two.begun()).toBe(5);
    vi.advanceTimersByTime(600);
    expect([one.begun(), two.begun()]).toEqual([5, 5]);
  });

  it("go to others when a process gives up, or dies", () => {
    const { keeper, all } = processes({ concurrency: 1, rate: undefined });
    const [one, two] = all;
    one.ask();
    const gaveUp = { onTurn: () => expect.unreachable() };
    expect(two.limits.enter(gaveUp)).toBe("waiting");
    two.limits.forget(gaveUp);
    two.ask();
    expect(two.begun()).toBe(0);
    keeper.end(0);
    expect(two.begun()).toBe(1);
    // The second turn that was wanted has been given back.
    two.limits.leave();
    two.ask();
    expect(two.begun()).toBe(2);
  });

  it("come to those who wait when limits become small", () => {
    const asked: string[] = [];
    const options = { concurrency: 1, rate: undefined, maxWaiting: 9, longestWaitMs: 9000 };
    const now = (): number => Date.now();
    const limits = new Limits({ ...options, now });
    let begun = 0;
    for (let count = 0; count < 3; count++) limits.enter({ onTurn: () => void (begun += 1) });
    const turns = { tell: (what: string): void => void asked.push(what) };
    limits.change({ ...options, now, turns });
    expect(asked).toEqual(["want", "want"]);
    limits.leave();
    limits.grant();
    expect(begun).toBe(1);
  });
});
