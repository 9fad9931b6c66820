/**
 * The text of a map in the form that writers produce: with a `!size` header, computed independently of
 * them.
 */
export function sized(map: string): string {
  const lines = map.split("\n").slice(0, -1);
  const headers = lines.filter((line) => line.startsWith("!"));
  const rows = lines.slice(headers.length).map((line) => `${line}\n`);
  const bytes = Buffer.byteLength(rows.join(""));
  const size = `!size {"bytes":${bytes},"records":${rows.length}}`.padEnd(59);
  const head = [...headers, size].toSorted().map((line) => `${line}\n`);
  return [...head, ...rows].join("");
}

/** The map without the header. */
export function unsized(map: string): string {
  return map.replace(/^!size .*\n/m, "");
}
