import { latin1 } from "./check.ts";

/** A map with its rows in order, one for each key: what is out of order is refused for that alone. */
export function sortedRows(map: Uint8Array): Uint8Array {
  const lines = latin1(map)
    .split("\n")
    .filter((line) => line !== "");
  const headers = lines.filter((line) => /^[!@]/.test(line));
  const rows = new Map<string, string>();
  for (const line of lines) {
    if (!/^[!@]/.test(line)) rows.set(/^[^ \t]*/.exec(line)?.[0] ?? "", line);
  }
  // Characters stand for bytes.
  const inOrder = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  const text = [...headers, ...inOrder].map((line) => `${line}\n`).join("");
  return new Uint8Array(Buffer.from(text, "latin1"));
}
