import { basename, dirname, join } from "node:path";

/**
 * A hidden name in the folder of `path`, for what will be renamed to it.
 *
 * Nobody else has it, but it is no secret: make the file or folder so that it must be new. (Not
 * `randomUUID`: loading node:crypto takes longer than many commands.)
 */
export function temporaryPath(path: string): string {
  const unique = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  return join(dirname(path), `.${basename(path)}.${unique}.tmp`);
}
