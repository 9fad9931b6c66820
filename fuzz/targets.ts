import { readdirSync } from "node:fs";
import type { Target, TargetModule } from "./target.ts";

const FOLDER = new URL("./targets/", import.meta.url);

/** The names of all targets: those of the files in `fuzz/targets/`. */
export function targetNames(): string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.ts$/, ""))
    .toSorted((a, b) => (a < b ? -1 : 1));
}

export async function loadTarget(name: string): Promise<Target> {
  const module = (await import(new URL(`${name}.ts`, FOLDER).href)) as TargetModule;
  return { ...module.target, name };
}
