import type { ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { Monitor } from "../../../src/aggregate/memgator-events.ts";
import { outcome, session } from "../../support/sessions.ts";

/** A response whose reader takes nothing until it is told to. */
class Listener extends Writable {
  text = "";
  isStuck = false;

  constructor() {
    super({ decodeStrings: false });
  }

  writeHead(): void {
    this.text += "head ";
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    if (this.isStuck) return;
    this.text += chunk;
    done();
  }

  get response(): ServerResponse {
    return this as unknown as ServerResponse; // the parts of it that the monitor uses
  }
}

describe("Monitor", () => {
  it("tells all who listen, until they go", async () => {
    const monitor = new Monitor();
    const listeners = [new Listener(), new Listener()];
    for (const { response } of listeners) expect(monitor.add(response)).toBe(true);
    monitor.answered(session(), outcome({ result: "hit" }));
    for (const { text } of listeners) {
      expect(text).toMatch(/^head : events[^]*\n\ndata: \{"session": "\d+", "origin": "a",/);
    }
    listeners[0].destroy();
    await expect.poll(() => monitor.listeners).toBe(1);
    monitor.close();
    await expect.poll(() => monitor.listeners).toBe(0);
  });

  it("drops listeners that do not keep up, and limits their number", async () => {
    const monitor = new Monitor(1);
    const slow = new Listener();
    expect(monitor.add(slow.response)).toBe(true);
    expect(monitor.add(new Listener().response)).toBe(false);
    slow.isStuck = true;
    for (let i = 0; i < 5000 && !slow.destroyed; i++) {
      monitor.answered(session(), outcome({ result: "hit" }));
    }
    expect(slow.destroyed).toBe(true);
    await expect.poll(() => monitor.listeners).toBe(0);
  });
});
