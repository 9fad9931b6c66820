import { createHash } from "node:crypto";
import { type ByteSource, sourceChunks } from "../bytes/byte-source.ts";

/** SHA-256 of all bytes, in hexadecimal. */
export async function digestOf(
  source: ByteSource,
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of sourceChunks(source, { signal })) hash.update(chunk);
  return hash.digest("hex");
}
