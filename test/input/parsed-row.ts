import { Capture, ROW } from "../../src/input/capture.ts";
import type { LineReader } from "../../src/input/capture.ts";

const KINDS = Object.fromEntries(Object.entries(ROW).map(([name, kind]) => [kind, name]));

/** What a reader makes of a line: `capture key=… uri=… date=… status=… mime=…`, as far as it has them. */
export function parsedRow(reader: LineReader, line: string): string {
  // Bytes around the line, which no reader may look at.
  const bytes = Buffer.from(
    `before\n${line}\nbehind "x": {"status": "999"} 20990101000000`,
    "latin1",
  );
  const capture = new Capture();
  reader.take?.(bytes);
  const kind = reader.read(bytes, 7, 7 + line.length, capture);
  if (kind === ROW.bad) return `bad: ${capture.fault}`;
  if (kind !== ROW.capture) return KINDS[kind] ?? "?";
  const columns = ["key", "uri", "date", "status", "mime"] as const;
  const found = columns.flatMap((name) => {
    const [start, end] = [capture[`${name}Start`], capture[`${name}End`]];
    return start === -1 ? [] : [` ${name}=${bytes.toString("latin1", start, end)}`];
  });
  return `capture${found.join("")}`;
}
