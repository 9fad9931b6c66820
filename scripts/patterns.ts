// Checks that no regular expression takes more than linear time on hostile text: in src and page, by analysis.
//
//   npm run lint
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { analyse } from "scslre";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Superlinear patterns whose input is short, and what limits it. */
const LIMITED: Readonly<Record<string, string>> = {
  "src/format.ts": "the digits of a number",
  "src/http/router.ts": "our own table of routes",
  "src/input/detect.ts": "the first 4,096 characters of a line",
  "src/input/line-kind.ts": "the first 4,096 characters of a line",
  "src/aggregate/service/request.ts": "headers of at most 1,024 characters",
};

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** The literals of a file. Patterns made of strings at run time are not found: use literals. */
function readPatterns(path: string): Pattern[] {
  const found: Pattern[] = [];
  const text = readFileSync(join(ROOT, path), "utf8");
  JSON.stringify(parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" }), (_, node) => {
    if (typeof node === "bigint") return null;
    const { regex } = (node ?? {}) as { regex?: { pattern: string; flags: string } };
    if (regex !== undefined) found.push({ source: regex.pattern, flags: regex.flags });
    return node as unknown;
  });
  return found;
}

const paths = ["src", "page"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);
let count = 0;
const errors: string[] = [];
const unused = new Set(Object.keys(LIMITED));
for (const path of paths) {
  for (const pattern of readPatterns(path)) {
    count += 1;
    const { reports } = analyse(pattern);
    if (reports.length === 0) continue;
    unused.delete(path);
    if (path in LIMITED) continue;
    errors.push(`${path}: /${pattern.source}/${pattern.flags} takes more than linear time`);
  }
}
for (const path of unused)
  errors.push(`${path}: no superlinear pattern left; remove its exception`);
for (const error of errors) process.stderr.write(`${error}\n`);
process.stdout.write(`${count} patterns, ${errors.length} errors\n`);
process.exitCode = errors.length === 0 ? 0 : 1;
