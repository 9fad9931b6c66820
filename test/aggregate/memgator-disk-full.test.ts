import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { MemgatorLog } from "../../src/input/memgator-log.ts";
import { MemgatorLogFile } from "../../src/aggregate/memgator-events.ts";
import { archive, outcome, session } from "../support/sessions.ts";
import { scratchDir } from "../support/scratch.ts";

/** Bytes that the disk still takes. */
let room = Infinity;

vi.mock(import("node:fs"), async (original) => {
  const module = await original();
  const writeSync = (file: number, bytes: NodeJS.ArrayBufferView, offset?: number): number => {
    const from = offset ?? 0;
    const length = Math.min(bytes.byteLength - from, room);
    if (length === 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    room -= length;
    return module.writeSync(file, bytes, from, length);
  };
  return { ...module, writeSync: writeSync as typeof module.writeSync };
});

/** A line was cut off where the disk was full, and the next one continued it; everything was reported. */
describe("a log on a disk that is full for a while", () => {
  it("has every later line whole, and tells of it once", () => {
    const faults: Error[] = [];
    const path = join(scratchDir(), "memgator.log");
    const file = new MemgatorLogFile(path, { onError: (error) => faults.push(error) });
    const log = (id: string, bytes: number): void => {
      room = bytes;
      const one = session({ id, uri: `http://example.org/${id}` });
      file.began(one);
      file.answered(one, outcome({ result: "hit", archive: archive("ia") }));
      file.ended(one, { mementos: 3, answeredAt: one.startedAt, endedAt: one.startedAt });
      file.flush();
    };
    log("1465473600123456001", Infinity);
    log("1465473600123456002", 100);
    log("1465473600123456003", 0);
    log("1465473600123456004", Infinity);
    expect(faults.map((error) => error.message)).toEqual([expect.stringContaining("no space")]);
    log("1465473600123456005", 0);
    expect(faults).toHaveLength(2);
    room = Infinity;
    file.close();
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const read = new MemgatorLog();
    const found = lines.flatMap((line) => read.read(line) ?? []).map(({ uri }) => uri);
    expect(found).toEqual([
      "http://example.org/1465473600123456001",
      "http://example.org/1465473600123456004",
    ]);
    expect(lines.filter((line) => !/^(?:BENCHMARK|INFO): /.test(line))).toEqual([]);
  });
});
