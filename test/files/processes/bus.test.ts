import { describe, expect, it } from "vitest";
import { Learner, type Observation } from "../../../src/aggregate/learn/learner.ts";
import { BatchedTopic, KeptMessages } from "../../../src/files/processes/bus.ts";
import { LocalBus } from "../../support/local-bus.ts";
import { until } from "../../support/until.ts";

describe("a bus", () => {
  it("carries what one process learns to the others", async () => {
    const bus = new LocalBus();
    const learners = [0, 1].map(() => {
      const topic: BatchedTopic<Observation> = new BatchedTopic(bus.join(), "observations", {
        everyMs: 1,
        take: (observation) => learner.apply(observation),
      });
      const learner: Learner = new Learner([{ id: "a" }], {
        onObservation: (observation) => topic.publish(observation),
      });
      return learner;
    });
    const [one, two] = learners;
    for (let count = 0; count < 20; count++) {
      one.observe({ archive: "a", surt: `org,example)/${count}`, mementos: 0 });
      two.observe({ archive: "a", surt: `org,other)/${count}`, mementos: 1 });
    }
    await until(() => learners.every(({ observations }) => observations === 40));
    expect(learners.map(({ observations }) => observations)).toEqual([40, 40]);
  });

  it("keeps the last message of each key, until it is forgotten", () => {
    const kept = new KeptMessages();
    kept.set("t", "a", 1);
    kept.set("t", "b", 2);
    kept.set("t", "a", 3);
    kept.set("u", "a", 4);
    expect(kept.of("t")).toEqual([3, 2]);
    kept.set("t", "a", undefined);
    expect([...kept]).toEqual([
      { topic: "t", key: "b", message: 2 },
      { topic: "u", key: "a", message: 4 },
    ]);
    expect(kept.of("nothing")).toEqual([]);
  });
});
