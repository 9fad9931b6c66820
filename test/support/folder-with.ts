import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scratchDir } from "./scratch.ts";

/** File contents, by path in a folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A scratch folder with these files. */
export function folderWith(files: Files): string {
  const folder = scratchDir();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}
