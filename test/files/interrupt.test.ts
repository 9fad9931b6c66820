import { describe, expect, it } from "vitest";
import { Interrupt } from "../../src/interruption.ts";

describe("Interrupt", () => {
  it("aborts its signal with a reason that names who asked", () => {
    const interrupt = new Interrupt();
    interrupt.trigger("SIGINT");
    expect(interrupt.signal.reason).toMatchObject({
      code: "MM_INTERRUPTED",
      message: "stopped by SIGINT",
    });
  });

  it("cleans up newest first, once, and not what was taken back", () => {
    const interrupt = new Interrupt();
    const ran: string[] = [];
    interrupt.onCleanUp(() => ran.push("first"));
    const release = interrupt.onCleanUp(() => ran.push("taken back"));
    interrupt.onCleanUp(() => ran.push("last"));
    release();
    interrupt.cleanUp();
    interrupt.cleanUp();
    expect(ran).toEqual(["last", "first"]);
  });

  it("runs every clean-up when one fails, and says so", () => {
    const interrupt = new Interrupt();
    const ran: string[] = [];
    interrupt.onCleanUp(() => ran.push("first"));
    interrupt.onCleanUp(() => {
      throw new Error("cannot");
    });
    expect(() => {
      interrupt.cleanUp();
    }).toThrow("cannot");
    expect(ran).toEqual(["first"]);
  });
});
