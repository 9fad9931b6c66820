import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Inputs that once failed, in a folder for each target, named by their hash. */
const FOLDER = new URL("./kept/", import.meta.url);

/** A kept input. */
export interface KeptInput {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** The kept inputs of a target, in the order of their names. */
export function keptInputs(target: string): KeptInput[] {
  const folder = new URL(`${target}/`, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => {
      const file = new URL(name, folder);
      return { path: fileURLToPath(file), bytes: new Uint8Array(readFileSync(file)) };
    });
}

/** Keeps an input; returns its path. */
export function keepInput(target: string, bytes: Uint8Array): string {
  const folder = new URL(`${target}/`, FOLDER);
  mkdirSync(folder, { recursive: true });
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const file = new URL(hash, folder);
  writeFileSync(file, bytes);
  return fileURLToPath(file);
}
