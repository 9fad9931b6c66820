import { createHash } from "node:crypto";

/** SHA-256 of all bytes, in hexadecimal. Chunks need not be valid any longer than until the next is asked for. */
export async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}
