import { LF } from "../bytes/bytes.ts";
import type { ByteCursor } from "./byte-cursor.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The first line of a block of header fields, and its fields by name in lower case. */
export interface HeaderBlock {
  readonly firstLine: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Bytes of the block, with the blank line that ends it. */
  readonly length: number;
  /** Whether the blank line was there. */
  readonly isWhole: boolean;
}

/**
 * Reads a block as WARC and HTTP have it: a line, fields `name: value`, a blank line.
 *
 * Of a field that is repeated the first counts. Reads at most `limit` bytes.
 */
export async function readHeaderBlock(cursor: ByteCursor, limit: number): Promise<HeaderBlock> {
  const lines: string[] = [];
  let length = 0;
  while (length < limit) {
    const bytes = await cursor.readThrough(LF, limit - length);
    length += bytes.length;
    if (bytes.at(-1) !== LF) break;
    const line = headerLine(bytes);
    if (line === "") return { ...headerFields(lines), length, isWhole: true };
    lines.push(line);
  }
  return { ...headerFields(lines), length, isWhole: false };
}

/**
 * The text of a line without its end. Bytes that are no UTF-8, such as those of a URI that a page of
 * another encoding links to, are percent-encoded, which is what a browser that asks for it sends.
 */
export function headerLine(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    text = Array.from(bytes, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`,
    ).join("");
  }
  return text.replace(/\r?\n$/, "");
}

function headerFields(lines: readonly string[]): Pick<HeaderBlock, "firstLine" | "fields"> {
  const [firstLine = "", ...rest] = lines;
  const fields = new Map<string, string>();
  let name = "";
  for (const line of rest) {
    if (/^[ \t]/.test(line)) {
      // A line that begins with a blank goes on with the field before it.
      fields.set(name, `${fields.get(name) ?? ""} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(":");
    name = line.slice(0, colon === -1 ? line.length : colon).toLowerCase();
    if (colon !== -1 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return { firstLine, fields };
}
