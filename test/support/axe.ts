import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A browser page. */
interface Scriptable {
  evaluate(source: string): Promise<unknown>;
}

/** Violations of WCAG 2.2 AA found by axe-core; `evaluate` is not subject to the content security policy. */
export async function axeFaults(page: Scriptable): Promise<string[]> {
  // The completion value of the source cannot be serialized.
  await page.evaluate(`${SOURCE};undefined`);
  const found = page.evaluate(`axe
    .run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 5).map((node) => id + ": " + node.target.join(" ") + " " + node.html.slice(0, 120))))`);
  return (await found) as string[];
}
