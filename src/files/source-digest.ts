import { createHash } from "node:crypto";

/** SHA-256 of all bytes, in hexadecimal. Chunks need to be valid only until the next one is requested. */
export async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}
