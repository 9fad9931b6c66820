import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Admission } from "../../../src/aggregate/service/admission.ts";

describe("Admission", () => {
  it("admits a number of requests at a time, the others in order of arrival", () => {
    const admission = new Admission({ most: 2, mostWaiting: 3 });
    const started: number[] = [];
    const entered = [1, 2, 3, 4, 5, 6].map((each) => admission.enter(() => started.push(each)));
    expect(started).toEqual([1, 2]);
    expect(entered[5]).toBe("full");
    expect([admission.underWay, admission.waiting]).toEqual([2, 3]);
    admission.leave();
    expect(started).toEqual([1, 2, 3]);
    const giveUp = entered[3];
    if (typeof giveUp === "function") giveUp();
    if (typeof giveUp === "function") giveUp(); // twice is once
    expect(admission.waiting).toBe(1);
    admission.leave();
    expect(started).toEqual([1, 2, 3, 5]);
    admission.leave();
    admission.leave();
    expect([admission.underWay, admission.waiting]).toEqual([0, 0]);
  });

  it("never has more under way than it may, and forgets nobody", () => {
    const step = fc.constantFrom("enter", "leave", "give up");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 3000 }), (steps) => {
        const admission = new Admission({ most: 3, mostWaiting: 1000 });
        const queue: { readonly id: number; readonly giveUp: () => void }[] = [];
        let running = 0;
        let started = -1;
        let isInOrder = true;
        for (const [id, each] of steps.entries()) {
          if (each === "enter") {
            const giveUp = admission.enter(() => {
              isInOrder &&= id > started;
              started = id;
              running += 1;
            });
            if (typeof giveUp === "function") queue.push({ id, giveUp });
          } else if (each === "leave" && running > 0) {
            running -= 1;
            admission.leave();
          } else if (each === "give up") {
            queue.splice(Math.floor(queue.length / 2), 1)[0]?.giveUp();
          }
          while (queue.length > 0 && queue[0].id <= started) queue.shift();
          expect(isInOrder).toBe(true);
          expect(admission.underWay).toBe(running);
          expect(running).toBeLessThanOrEqual(3);
          expect(admission.waiting).toBe(queue.length);
          expect(queue.length === 0 || running === 3).toBe(true);
        }
      }),
    );
  });

  it("lets fewer in while the event loop is saturated, and more again when it has time", () => {
    let utilization: number | undefined = 1;
    const admission = new Admission({
      most: 200,
      mostWaiting: 10_000,
      utilization: () => utilization,
    });
    const enter = (): unknown => admission.enter(() => undefined);
    for (let i = 0; i < 1000; i++) enter();
    expect(admission.underWay).toBe(200);
    // Clients that are answered ask again.
    const turn = (): void => {
      admission.leave();
      enter();
    };
    for (let i = 0; i < 400; i++) turn();
    expect(admission.underWay).toBe(16);
    utilization = 0.97;
    for (let i = 0; i < 400; i++) turn();
    expect(admission.underWay).toBe(16);
    utilization = undefined;
    turn();
    expect(admission.underWay).toBe(16);
    utilization = 0.5;
    for (let i = 0; i < 20; i++) turn();
    expect(admission.underWay).toBe(200);
    expect(admission.waiting).toBe(800);
  });

  it("goes down to one where no more are allowed, and starts all that wait", () => {
    const admission = new Admission({ most: 1, mostWaiting: 10, utilization: () => 1 });
    let started = 0;
    for (let i = 0; i < 5; i++) admission.enter(() => (started += 1));
    for (let i = 0; i < 5; i++) admission.leave();
    expect([started, admission.underWay, admission.waiting]).toEqual([5, 0, 0]);
  });
});
