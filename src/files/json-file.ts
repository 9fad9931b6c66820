import { readFile, rm } from "node:fs/promises";
import type { Interrupt } from "./interrupt.ts";
import { ioError, systemCode } from "./io-error.ts";
import { withOutput } from "./output-file.ts";

/** A small JSON file; undefined when there is none, or none that can be read. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw ioError(error, path);
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T; // written by this program
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // It only saves work.
    await rm(path, { force: true });
    return undefined;
  }
}

/** Writes a small JSON file, whole or not at all. */
export async function writeJson(
  path: string,
  value: unknown,
  interrupt?: Interrupt,
): Promise<void> {
  await withOutput(path, { stdout: process.stdout, interrupt }, (output) =>
    output.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`)),
  );
}
