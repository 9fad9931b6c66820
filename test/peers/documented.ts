import { readFileSync } from "node:fs";

const PAGES = ["publishing.md", "aggregating.md"];

/** A block of code of the guides that begins with a line, so that what is documented is tested. */
export function documented(firstLine: string): string {
  for (const page of PAGES) {
    const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
    const block = Array.from(text.matchAll(/^```\w*\n([^]*?)^```$/gm), (match) => match[1]).find(
      (code) => code.startsWith(firstLine),
    );
    if (block !== undefined) return block;
  }
  throw new Error(`${PAGES.join(" and ")} have no block "${firstLine}"`);
}
