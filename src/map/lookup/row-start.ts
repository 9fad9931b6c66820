import { OPEN_BRACE, QUOTE } from "../../bytes/bytes.ts";
import { MementoMapError, type Position } from "../../errors.ts";
import { startsHeader } from "../../ukvs/header.ts";

/**
 * Refuses a line that cannot be a row of a map by its first byte.
 *
 * @throws MM_BAD_HEADER for a header after the first row, MM_BAD_KEY for a quoted key, MM_BAD_LINE for
 *   JSON in place of a key.
 */
export function checkRowStart(bytes: Uint8Array, start: number, position: Position): void {
  const byte = bytes[start];
  if (startsHeader(byte)) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      "a header stands after the first row; headers come first",
      {
        position,
      },
    );
  }
  if (byte === QUOTE) {
    throw new MementoMapError("MM_BAD_KEY", "the key is quoted; keys of a map never are", {
      position,
    });
  }
  if (byte === OPEN_BRACE) {
    throw new MementoMapError("MM_BAD_LINE", "the line has a JSON block in place of a key", {
      position,
    });
  }
}
