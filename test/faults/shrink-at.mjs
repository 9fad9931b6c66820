// Loaded into a process, and its threads, before its program: before the nth read of the file
// SHRINK_PATH, cuts it to SHRINK_TO bytes, as a program does that rewrites a file in place.
import fs from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const { SHRINK_PATH = "", SHRINK_TO = "0", SHRINK_AT = "1" } = process.env;
const { truncateSync, fstatSync, statSync } = fs;
const { ino } = statSync(SHRINK_PATH);
let reads = 0;

function shrink(fd) {
  if (fstatSync(fd).ino !== ino || ++reads !== Number(SHRINK_AT)) return;
  truncateSync(SHRINK_PATH, Number(SHRINK_TO));
}

for (const name of ["read", "readSync", "readv", "readvSync"]) {
  const original = fs[name];
  fs[name] = (fd, ...args) => {
    shrink(fd);
    return original(fd, ...args);
  };
}
const probe = await fsp.open(new URL(import.meta.url));
const { prototype } = probe.constructor;
await probe.close();
const { read } = prototype;
prototype.read = function shrunk(...args) {
  shrink(this.fd);
  return read.apply(this, args);
};
syncBuiltinESMExports();
