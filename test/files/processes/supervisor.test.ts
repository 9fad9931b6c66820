import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Supervisor, type SupervisorOptions } from "../../../src/files/processes/supervisor.ts";
import { scratchDir } from "../../support/scratch.ts";

/** A program whose workers speak as `WorkerLink` does. */
function program(onStart: string): SupervisorOptions["program"] {
  const file = join(scratchDir(), "worker.cjs");
  writeFileSync(
    file,
    `const ready = (value) => process.send({ type: "ready", value });
     process.on("message", ({ type, start, id, what }) => {
       if (type === "start") { ${onStart} }
       if (type === "question") process.send({ type: "answer", id, value: what + process.pid });
       if (type === "collected") console.log("collected");
       if (type === "stop") process.exit(0);
     });
     process.send({ type: "hello" });`,
  );
  return { file, args: [] };
}

interface Seen {
  readonly events: { message: string; worker: unknown; afterMs: unknown }[];
  readonly output: string[];
  readonly readies: unknown[];
}

function supervise(
  onStart: string,
  onEvent: (supervisor: Supervisor, seen: Seen) => void,
): { supervisor: Supervisor; seen: Seen } {
  const seen: Seen = { events: [], output: [], readies: [] };
  const supervisor: Supervisor = new Supervisor({
    program: program(onStart),
    count: 2,
    startOf: (number) => number,
    onReady: (value) => seen.readies.push(value),
    onOutput(_stream, lines) {
      seen.output.push(lines);
      onEvent(supervisor, seen);
    },
    onEvent(_level, message, { worker, afterMs }) {
      seen.events.push({ message, worker, afterMs });
      onEvent(supervisor, seen);
    },
    join: (_what, answers) => [...answers.keys()],
    graceMs: 1000,
  });
  return { supervisor, seen };
}

describe("a supervisor", () => {
  it("starts a worker that dies at once again, later each time, and lets the others be", async () => {
    const { supervisor, seen } = supervise(
      "if (start === 1) ready(1); else process.exit(3);",
      (self, { events }) => {
        if (events.filter(({ worker }) => worker === 2).length === 3) self.stop();
      },
    );
    expect(await supervisor.run()).toEqual({ reason: "stopped" });
    const message = "a worker ended and is replaced";
    expect(seen.events).toEqual([
      { message: "a worker serves", worker: 1, afterMs: undefined },
      { message, worker: 2, afterMs: 250 },
      { message, worker: 2, afterMs: 500 },
      { message, worker: 2, afterMs: 1000 },
    ]);
    expect(supervisor.restarts).toBe(3);
    expect(supervisor.running).toBe(0);
  });

  it("ends when the first worker cannot begin, after all that it wrote", async () => {
    const { supervisor, seen } = supervise(
      'process.stderr.write("x".repeat(100000) + "\\n no good", () => process.exit(2));',
      () => undefined,
    );
    expect(await supervisor.run()).toEqual({ reason: "failed", exitCode: 2 });
    expect(seen.output.join("")).toBe(`${"x".repeat(100_000)}\n no good\n`);
    expect(seen.readies).toEqual([]);
  });

  it("says once that it is ready, and passes on whole lines", async () => {
    const { supervisor, seen } = supervise(
      `ready(start);
       if (start === 2) {
         process.send({ type: "collect", id: 7, what: "pid" });
         process.stdout.write("one\\ntw", () => process.stdout.write("o\\n"));
       }`,
      (self, { output }) => {
        const text = output.join("");
        if (text.includes("two") && text.includes("collected")) self.stop();
      },
    );
    expect(await supervisor.run()).toEqual({ reason: "stopped" });
    expect(seen.readies).toEqual([1]);
    for (const lines of seen.output) expect(lines.endsWith("\n")).toBe(true);
  });
});
