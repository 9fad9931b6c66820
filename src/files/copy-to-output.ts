import { open } from "node:fs/promises";
import { ioError } from "./io-error.ts";
import type { Output } from "./output-file.ts";

const BUFFER_BYTES = 1 << 18;

/**
 * Writes all of a file to an output, through one buffer.
 *
 * (A read stream makes a buffer for each block. Those are garbage that Node clears away only when
 * there are tens of megabytes of it.)
 *
 * @throws MM_IO
 */
export async function copyToOutput(path: string, output: Pick<Output, "write">): Promise<void> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw ioError(error, path);
  });
  try {
    const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES).catch((error: unknown) => {
        throw ioError(error, path);
      });
      if (bytesRead === 0) return;
      await output.write(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
