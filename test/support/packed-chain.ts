import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { packDelta } from "../../src/map/pack/pack-delta.ts";
import { scratchDir } from "./scratch.ts";

/** The delta for a map given as text, to be read behind a packed map. */
export async function deltaBytes(base: Uint8Array, text: string): Promise<Uint8Array> {
  const path = join(scratchDir(), "new.ukvs");
  writeFileSync(path, text);
  const options = { streams: { stdin: process.stdin } };
  const { file, position } = await packDelta(path, { bytes: base, source: "base" }, options);
  if (file === undefined || position === undefined) throw new Error("not a delta");
  return file;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
