import { MementoMapError } from "../errors.ts";

const MAX_TEXT_BYTES = 2 ** 28;

/**
 * All of a stream as text, for formats that can be read only whole.
 *
 * @throws MM_LIMIT beyond 256 MiB.
 */
export async function wholeText(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) {
      throw new MementoMapError(
        "MM_LIMIT",
        `holds more than ${MAX_TEXT_BYTES} bytes, which have to be read at once`,
        { position: { source } },
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
