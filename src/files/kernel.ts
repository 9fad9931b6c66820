import { existsSync, readFileSync } from "node:fs";
import { packageFile } from "./package-file.ts";

/** The part of WebAssembly that is used here; its full types come only with those of a browser. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, (...numbers: number[]) => void>>>>,
  ) => { readonly exports: unknown };
}

/** What every kernel exports. */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
}

/**
 * Starts a WebAssembly kernel (see kernel/), or gives undefined where it has not been built.
 * Everything a kernel does can be done without it, only slower.
 */
export function startKernel(
  name: "compact" | "scan-cdxj",
  functions: Readonly<Record<string, (...numbers: number[]) => void>>,
): KernelExports | undefined {
  const file = packageFile(`dist/kernel/${name}.wasm`);
  if (file === undefined || !existsSync(file)) return undefined;
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };
  const module = new WebAssembly.Module(readFileSync(file));
  // Every kernel has a memory.
  return new WebAssembly.Instance(module, { env: functions }).exports as KernelExports;
}
