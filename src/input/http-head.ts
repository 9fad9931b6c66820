import type { ByteCursor } from "./byte-cursor.ts";
import { readHeaderBlock } from "./header-fields.ts";

const MAX_HTTP_HEADER_BYTES = 1 << 18;

/** What the head of a stored HTTP response says; an empty text stands for nothing. */
export interface HttpHead {
  /** Whether there is a response line. */
  readonly isHttp: boolean;
  readonly status: string;
  readonly mime: string;
  /** Bytes that were read. */
  readonly length: number;
}

/** Reads the head of a response that is `length` bytes long; at most 256 KiB of it. */
export async function readHttpHead(cursor: ByteCursor, length: number): Promise<HttpHead> {
  const block = await readHeaderBlock(cursor, Math.min(length, MAX_HTTP_HEADER_BYTES));
  return {
    isHttp: /^(?:HTTP|ICY)\b/i.test(block.firstLine),
    status: /^\S+\s+(\d{3})\b/.exec(block.firstLine)?.[1] ?? "",
    mime: mediaType(block.fields.get("content-type")),
    length: block.length,
  };
}

/** `text/html; charset=utf-8` → `text/html`. */
export function mediaType(field: string | undefined): string {
  return (field ?? "").split(/[;\s]/, 1)[0].toLowerCase();
}
