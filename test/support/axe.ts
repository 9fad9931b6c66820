import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds against WCAG 2.2 AA; the page must allow scripts (`bypassCSP`). */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE);
  return page.evaluate<string[]>(`axe
    .run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 5).map((node) => id + ": " + node.target.join(" ") + " " + node.html.slice(0, 120))))`);
}
