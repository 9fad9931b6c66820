// Compiles every file of kernel/ to dist/kernel/NAME.wasm; folders hold what they import.
import { mkdir, readdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const OPTIONS = ["-O3", "--converge", "--runtime", "stub", "--noAssert", "--enable", "simd"];
/** Says that optimising once more did not help, which reads like a fault. */
const CONVERGED = /^Last converge was suboptimal\.\n/gm;

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
await mkdir("dist/kernel", { recursive: true });
for (const file of await readdir("kernel")) {
  if (!file.endsWith(".ts")) continue;
  const target = `dist/kernel/${basename(file, ".ts")}.wasm`;
  // A kernel never aborts: it gives up.
  const argv = [`kernel/${file}`, "-o", target, ...OPTIONS, "--use", "abort="];
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main(argv, { stdout: process.stdout, stderr });
  process.stderr.write(stderr.toString().replaceAll(CONVERGED, ""));
  if (error !== null) process.exitCode = 1;
}
