// Loaded into a process before its program: kills it at the nth change of the file system, before it
// (KILL_AT=n) or after it (KILL_AT=n+), as nothing else can from outside. With KILL_AT=0 it only
// counts, and writes the number to the file COUNT_TO.
import fs from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const { KILL_AT = "", COUNT_TO } = process.env;
const after = KILL_AT.endsWith("+");
const at = Number.parseInt(KILL_AT, 10);
let count = 0;

/** Counts a call, and says whether it is the last one. */
function isLast() {
  return ++count === at;
}

function kill() {
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment to arrive; nothing must happen in it.
  for (;;);
}

function killing(holder, name, isChange = () => true) {
  const original = holder[name];
  holder[name] = function changed(...args) {
    if (!isChange(...args) || !isLast()) return original.apply(this, args);
    if (!after) kill();
    const result = original.apply(this, args);
    return result instanceof Promise ? result.then(kill, kill) : kill();
  };
}

const makes = (_path, flags) => typeof flags === "string" && /[wax]/.test(flags);

if (isMainThread) {
  const { writeFileSync } = fs;
  if (COUNT_TO !== undefined) process.on("exit", () => writeFileSync(COUNT_TO, String(count)));
  for (const name of ["rename", "rm", "mkdir", "truncate", "writeFile", "link", "unlink"]) {
    killing(fsp, name);
    killing(fs, `${name}Sync`);
  }
  killing(fsp, "open", makes);
  killing(fs, "openSync", makes);
  const probe = await fsp.open(new URL(import.meta.url));
  const { prototype } = probe.constructor;
  await probe.close();
  for (const name of ["sync", "datasync", "truncate"]) killing(prototype, name);
  syncBuiltinESMExports();
}
