import { describe, expect, it } from "vitest";
import { Monitor } from "../../../src/aggregate/service/stream.ts";
import type { Reply } from "../../../src/http/reply.ts";
import { outcome, session } from "../../support/sessions.ts";

/** A listener that reads one event after the other. */
function reader({ body }: Reply): AsyncIterator<Uint8Array> {
  return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
}

async function next(events: AsyncIterator<Uint8Array>): Promise<string | undefined> {
  const { done, value } = await events.next();
  return done === true ? undefined : Buffer.from(value).toString();
}

describe("Monitor", () => {
  it("tells all who listen, until they go", async () => {
    const monitor = new Monitor();
    const listeners = [reader(monitor.listen()), reader(monitor.listen())];
    for (const each of listeners) expect(await next(each)).toMatch(/^: events/);
    monitor.answered(session(), outcome({ result: "hit" }));
    for (const each of listeners) {
      expect(await next(each)).toMatch(/^data: \{"session": "\d+", "origin": "a",/);
    }
    await listeners[0]?.return?.();
    expect(monitor.listeners).toBe(1);
    monitor.close();
    const rest = listeners[1];
    while (rest !== undefined && (await next(rest)) !== undefined);
    expect(monitor.listeners).toBe(0);
  });

  it("drops listeners that do not keep up, and limits their number", async () => {
    const monitor = new Monitor(1);
    const slow = monitor.listen();
    expect(slow.status).toBe(200);
    expect(monitor.listen().status).toBe(503);
    for (let i = 0; i < 20_000 && monitor.listeners > 0; i++) {
      monitor.answered(session(), outcome({ result: "hit" }));
    }
    expect(monitor.listeners).toBe(0);
    await expect(next(reader(slow))).rejects.toThrow(/does not keep up/);
  });

  it("forgets a listener whose response was never begun", async () => {
    const monitor = new Monitor(1);
    await monitor.listen().release?.();
    expect(monitor.listeners).toBe(0);
  });
});
