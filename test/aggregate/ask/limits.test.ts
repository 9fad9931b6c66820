import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Limits } from "../../../src/aggregate/ask/limits.ts";

function withClock(): void {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

const never = (): Promise<never> => new Promise(() => undefined);

describe("what one host is asked", () => {
  it("is never more at once than allowed, and all have their turn, clients before others", async () => {
    const limits = new Limits({ concurrency: 3, rate: Infinity });
    let most = 0;
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      most = Math.max(most, limits.inFlight);
      order.push(name);
      await Promise.resolve();
    };
    const names = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "background" : "client"));
    await Promise.all(
      names.map((name) =>
        limits.run(() => work(name), Infinity, name === "client" ? "client" : "background"),
      ),
    );
    expect(most).toBe(3);
    expect(order.slice(3).indexOf("background")).toBe(9);
    expect([limits.inFlight, limits.waiting]).toEqual([0, 0]);
  });

  it("is evenly spaced by its rate", async () => {
    withClock();
    const limits = new Limits({ concurrency: 10, rate: 4 });
    const begun: number[] = [];
    const work = (): Promise<void> => {
      begun.push(performance.now());
      return Promise.resolve();
    };
    const all = Promise.all(Array.from({ length: 5 }, () => limits.run(work, Infinity)));
    await vi.advanceTimersByTimeAsync(2000);
    await all;
    const gaps = begun.slice(1).map((at, i) => at - begun[i]);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(250);
    expect(begun[4] - begun[0]).toBeLessThan(2000);
  });

  it("waits as long as its own time allows, and is refused at once where the rate leaves none", async () => {
    withClock();
    const limits = new Limits({ concurrency: 1, rate: 1 });
    void limits.run(never, Infinity);
    const waiting = limits.run(never, performance.now() + 1500);
    const refused = limits.run(never, performance.now() + 500);
    await expect(refused).rejects.toMatchObject({ reason: "queue-full" });
    const late = waiting.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await late).toMatchObject({ reason: "queue-timeout" });
    expect(limits.waiting).toBe(0);
  });

  it("is halved when it is too much, and grows with what succeeds", () => {
    const limits = new Limits({ concurrency: 16, rate: Infinity });
    limits.overloaded();
    limits.overloaded();
    expect(limits.concurrency).toBe(4);
    for (let i = 0; i < 5; i++) limits.succeeded();
    expect(limits.concurrency).toBe(5);
    for (let i = 0; i < 500; i++) limits.succeeded();
    expect(limits.concurrency).toBe(16);
    for (let i = 0; i < 9; i++) limits.overloaded();
    expect(limits.concurrency).toBe(1);
  });
});
