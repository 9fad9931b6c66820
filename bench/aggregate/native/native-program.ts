import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { benchFolder } from "../../bench-folder.ts";

/** Compiles one of the programs in C of this folder, and gives its path. */
export async function nativeProgram(name: "fleet" | "load"): Promise<string> {
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
  const path = join(await benchFolder(), name);
  const compiler = process.env["CC"] ?? "cc";
  try {
    execFileSync(compiler, ["-O2", "-Wall", "-Wextra", "-o", path, source]);
  } catch (error) {
    throw new Error(`${name}.c cannot be compiled with ${compiler}; CC names another compiler`, {
      cause: error,
    });
  }
  return path;
}
