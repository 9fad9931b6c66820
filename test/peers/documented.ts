import { readFileSync } from "node:fs";

/** A block of code of docs/publishing.md that begins with a line, so that what is documented is tested. */
export function documented(firstLine: string): string {
  const text = readFileSync(new URL("../../docs/publishing.md", import.meta.url), "utf8");
  const block = Array.from(text.matchAll(/^```\w*\n([^]*?)^```$/gm), (match) => match[1]).find(
    (code) => code.startsWith(firstLine),
  );
  if (block === undefined) throw new Error(`docs/publishing.md has no block "${firstLine}"`);
  return block;
}
