import { Capture, ROW } from "../../src/input/capture.ts";
import type { LineReader } from "../../src/input/capture.ts";

const KINDS = Object.fromEntries(Object.entries(ROW).map(([name, kind]) => [kind, name]));

/** What a reader makes of a line, as text: the kind of row and the columns it found. */
export function parsedRow(reader: LineReader, line: string): Record<string, string> {
  // Bytes around the line, which no reader may look at.
  const bytes = Buffer.from(
    `before\n${line}\nbehind "x": {"status": "999"} 20990101000000`,
    "latin1",
  );
  const capture = new Capture();
  reader.take?.(bytes);
  const kind = reader.read(bytes, 7, 7 + line.length, capture);
  const row: Record<string, string> = { kind: KINDS[kind] ?? "?" };
  if (kind === ROW.bad) return { ...row, fault: capture.fault };
  if (kind !== ROW.capture) return row;
  const note = (name: string, start: number, end: number): void => {
    if (start !== -1) row[name] = bytes.toString("latin1", start, end);
  };
  note("key", capture.keyStart, capture.keyEnd);
  note("uri", capture.uriStart, capture.uriEnd);
  note("date", capture.dateStart, capture.dateEnd);
  note("status", capture.statusStart, capture.statusEnd);
  note("mime", capture.mimeStart, capture.mimeEnd);
  return row;
}
