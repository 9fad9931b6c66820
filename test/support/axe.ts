import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A page of a browser. */
interface Scriptable {
  evaluate(source: string): Promise<unknown>;
}

/** What axe-core finds against WCAG 2.2 AA; `evaluate` needs no permission of the page's policy. */
export async function axeFaults(page: Scriptable): Promise<string[]> {
  // The value of the source itself cannot be sent back.
  await page.evaluate(`${SOURCE};undefined`);
  const found = page.evaluate(`axe
    .run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 5).map((node) => id + ": " + node.target.join(" ") + " " + node.html.slice(0, 120))))`);
  return (await found) as string[];
}
