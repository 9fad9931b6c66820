import { describe, expect, it } from "vitest";
import { Progress } from "../../src/cli/common/messages.ts";
import { testIo } from "../support/run-cli.ts";

const ERASE = "\r\u001b[2K";

function watched(world: Parameters<typeof testIo>[0]): {
  io: ReturnType<typeof testIo>["io"];
  shown: () => string;
  clock: { ms: number };
} {
  const { io, written } = testIo(world);
  const clock = { ms: 0 };
  return { io: { ...io, now: () => clock.ms }, shown: () => written.stderr(), clock };
}

describe("Progress", () => {
  it("shows amount, total, rate and time left, and erases itself", () => {
    const { io, shown, clock } = watched({ isTTY: true });
    const progress = new Progress(io, { label: "reading", total: 4 * 2 ** 20 });
    clock.ms = 1000;
    progress.add(2 ** 20);
    expect(shown()).toBe(
      `${ERASE}reading [━━━━━━                  ] 1.0 MB of 4.2 MB  1.0 MB/s  3.0 s left`,
    );
    progress.end();
    expect(shown().endsWith(ERASE)).toBe(true);
  });

  it("shows no bar where the total is not known", () => {
    const { io, shown, clock } = watched({ isTTY: true });
    const progress = new Progress(io, { label: "reading" });
    clock.ms = 1000;
    progress.add(2 ** 20);
    expect(shown()).toBe(`${ERASE}reading 1.0 MB  1.0 MB/s`);
  });

  it("draws at most five times a second", () => {
    const { io, shown, clock } = watched({ isTTY: true });
    const progress = new Progress(io, { label: "reading" });
    for (clock.ms = 0; clock.ms <= 1000; clock.ms += 10) progress.add(1);
    expect(shown().split(ERASE).length - 1).toBe(5);
  });

  it("fits the terminal", () => {
    const { io, shown, clock } = watched({ isTTY: true });
    const narrow = { ...io, stderr: { ...io.stderr, columns: 30 } };
    const progress = new Progress(narrow, { label: "reading", total: 100 });
    clock.ms = 1000;
    progress.add(50);
    expect(shown().slice(ERASE.length)).toHaveLength(29);
  });

  it.each([
    [80, /^reading \[━+ +\] 260\.0 MB of 459\.4 MB {2}242\.8 MB\/s {2}0\.8 s left$/],
    [60, /^reading 260\.0 MB of 459\.4 MB {2}242\.8 MB\/s {2}0\.8 s left$/],
  ])("shortens its bar before its numbers: %i columns", (columns, expected) => {
    const { io, shown, clock } = watched({ isTTY: true });
    const terminal = { ...io, stderr: { ...io.stderr, columns } };
    const progress = new Progress(terminal, { label: "reading", total: 438.1 * 2 ** 20 });
    clock.ms = 1071;
    progress.add(248 * 2 ** 20);
    const line = shown().slice(ERASE.length);
    expect(line).toMatch(expected);
    expect(line.length).toBeLessThan(columns);
  });

  it.each([
    ["not a terminal", { isTTY: false }, false],
    ["quiet", { isTTY: true }, true],
    ["a dumb terminal", { isTTY: true, env: { TERM: "dumb" } }, false],
  ])("is silent when %s", (_name, world, quiet) => {
    const { io, shown, clock } = watched(world);
    const progress = new Progress(io, { label: "reading", quiet });
    clock.ms = 1000;
    progress.add(1);
    progress.end();
    expect(shown()).toBe("");
  });
});
