#!/usr/bin/env node
import { Interrupt } from "../interruption.ts";
import { drained, ExitCode } from "./common/io.ts";
import { main } from "./main.ts";

const interrupt = new Interrupt();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    if (interrupt.signal.aborted) {
      // Second signal: the command ignored the first, so exit at once.
      interrupt.cleanUp();
      process.exit(ExitCode.interrupted);
    }
    interrupt.trigger(name);
  });
}

// Every write reports its own failure; without a listener Node would end the process first.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);

const exitCode = await main(process.argv.slice(2), {
  get stdin() {
    return process.stdin;
  },
  get isStdinTTY() {
    return process.stdin.isTTY;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  interrupt,
  program: { file: process.argv[1], args: process.argv.slice(2) },
  onHangUp(listener) {
    process.on("SIGHUP", listener);
    return () => process.off("SIGHUP", listener);
  },
  now: () => performance.now(),
});
await drained(process.stdout);
await drained(process.stderr);
// Abandoned work or an unread standard input must not keep the process alive.
process.exit(exitCode);
