import { DELETE, SPACE, TAB } from "../../bytes/bytes.ts";
import { MementoMapError, type Position } from "../../errors.ts";
import { lineEnd, nextLine } from "./line-bounds.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Checks that whole lines are text; `first` is the place of the first of them.
 *
 * @throws MM_BAD_LINE for control characters and bytes that are not UTF-8.
 */
export function checkText(
  bytes: Uint8Array,
  start: number,
  end: number,
  first: Position & { readonly line: number },
): void {
  let { line } = first;
  for (let at = start; at < end; line++) {
    const stop = lineEnd(bytes, at);
    const fault = faultOf(bytes, at, stop);
    if (fault !== undefined) {
      throw new MementoMapError("MM_BAD_LINE", `the line looks binary: ${fault}`, {
        position: { source: first.source, line },
      });
    }
    at = nextLine(bytes, stop);
  }
}

function faultOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  let isAscii = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) return "it holds a control character";
    if (byte > DELETE) isAscii = false;
  }
  if (isAscii) return undefined;
  try {
    decoder.decode(bytes.subarray(start, end));
    return undefined;
  } catch {
    return "it is not UTF-8";
  }
}
