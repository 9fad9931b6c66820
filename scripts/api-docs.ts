// Renders docs/api.md from the types that the package is built with, and their comments.
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const ENTRIES = [
  ["mementomap", "index.d.ts"],
  ["mementomap/node", "node.d.ts"],
  ["mementomap/server", "server.d.ts"],
] as const;

/** A declaration with its comment. */
interface Declaration {
  readonly name: string;
  /** The comment without its frame. */
  readonly comment: string;
  readonly code: string;
}

/** The values that the package exports, by entry. */
export function exportedValues(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    ENTRIES.map(([entry, file]) => [entry, valuesOf(file).map(({ name }) => name)] as const),
  );
}

export function apiDocs(): string {
  const seen = new Set<string>();
  const sections = ENTRIES.map(([entry, file]) => {
    const values = valuesOf(file).filter(({ name }) => !seen.has(name));
    for (const { name } of values) seen.add(name);
    const types = namedTypes(file, values, seen);
    const shadowed = entry === "mementomap/node" ? NODE_NOTE : "";
    return `## ${entry}\n\n${comment(moduleComment(file)).text}\n${shadowed}\n${[
      ...values,
      ...types,
    ]
      .map(rendered)
      .join("\n")}`;
  });
  return `<!-- Written by \`npm run docs\` from the comments in src/: change those. -->
# API reference

Everything that the package exports. [library.md](library.md) tells how the parts fit together. Every
example is run by the tests, in a folder with an index of 2,000 lines, \`index.cdxj\`.

${sections.join("\n")}`;
}

/** The types that values name, and for the first entry those that these name. */
function namedTypes(
  file: string,
  values: readonly Declaration[],
  seen: Set<string>,
): readonly Declaration[] {
  const found: Declaration[] = [];
  let naming = values;
  const steps = file === ENTRIES[0][1] ? 2 : 1;
  for (let step = 0; step < steps; step++) {
    const text = naming.map(({ code }) => code).join("\n");
    naming = typesOf(file).filter(
      ({ name }) => !seen.has(name) && new RegExp(`\\b${name}\\b`).test(text),
    );
    for (const { name } of naming) seen.add(name);
    found.push(...naming);
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const NODE_NOTE = `
It exports all of \`mementomap\`, with the same signatures: a string that is not an address is the path of
a file.
`;

function rendered({ name, comment: text, code }: Declaration): string {
  const { text: prose, example } = comment(text);
  const shown = code.replaceAll(/^ {4}/gm, "  ").trimEnd();
  return `### ${name}\n\n${prose}\n\n\`\`\`typescript\n${shown}\n\`\`\`\n${
    example === "" ? "" : `\n${example}\n`
  }`;
}

/** The parts of a comment, as Markdown. */
function comment(text: string): { readonly text: string; readonly example: string } {
  const [before = "", example = ""] = text.split(/^@example\n/m);
  const prose = before
    .replaceAll(/^@module$/gm, "")
    .replaceAll(/\{@link (\w+)\}/g, "`$1`")
    .replaceAll(/^@param (\w+) /gm, "- `$1`: ")
    .replaceAll(/^@returns /gm, "- returns ")
    .replaceAll(/^@throws /gm, "\nThrows ");
  return { text: prose.replaceAll(/\n{3,}/g, "\n\n").trim(), example: example.trim() };
}

function read(file: string): string {
  return readFileSync(join(DIST, file), "utf8");
}

function moduleComment(file: string): string {
  return unframed(/\/\*\*[\s\S]*?\*\//.exec(read(file))?.[0] ?? "");
}

function unframed(text: string): string {
  return text
    .replace(/^\/\*\*\s?/, "")
    .replace(/\s*\*\/$/, "")
    .replaceAll(/^\s*\* ?/gm, "");
}

/** The values of an entry: those it declares, then those it takes from elsewhere. */
function valuesOf(file: string): Declaration[] {
  const text = read(file);
  const own = [...text.matchAll(/^export declare (?:function|class|const) (\w+)/gm)];
  const taken = [...text.matchAll(/^export \{([^}]*)\} from "([^"]+)";/gm)];
  const names = new Set(own.map(([, name = ""]) => name));
  return [
    ...Array.from(names, (name) => declarationOf(file, name)),
    ...taken.flatMap(([, list = "", path = ""]) =>
      namesOf(list).map((name) => declarationOf(resolved(file, path), name)),
    ),
  ];
}

function typesOf(file: string): Declaration[] {
  const taken = [...read(file).matchAll(/^export type \{([^}]*)\} from "([^"]+)";/gm)];
  return taken.flatMap(([, list = "", path = ""]) =>
    namesOf(list).map((name) => declarationOf(resolved(file, path), name)),
  );
}

function namesOf(list: string): string[] {
  return list.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}

function resolved(file: string, path: string): string {
  return normalize(join(dirname(file), path)).replace(/\.(?:ts|js)$/, ".d.ts");
}

/** A declaration and what belongs to it, from a file of types. */
function declarationOf(file: string, name: string): Declaration {
  const text = read(file);
  const start = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:function|class|const|interface|type|enum) ${name}\\b`,
    "m",
  ).exec(text)?.index;
  if (start === undefined) {
    const from = new RegExp(`^export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)";`, "m");
    const [, path] = from.exec(text) ?? [];
    if (path === undefined) throw new Error(`${name} is not declared in ${file}`);
    return declarationOf(resolved(file, path), name);
  }
  const before = text.slice(0, start).trimEnd();
  const framed = before.endsWith("*/") ? before.slice(before.lastIndexOf("/**")) : "";
  return { name, comment: unframed(framed), code: codeAt(text, start, name) };
}

/** The text of a declaration: with all of its overloads, and without what is private. */
function codeAt(text: string, start: number, name: string): string {
  const end = endOf(text, start);
  const code = text.slice(start, end).replaceAll(/^ +(?:#private|private [^\n]*);\n/gm, "");
  const rest = text.slice(end).trimStart();
  const isOverloaded = rest.startsWith(`export declare function ${name}(`);
  const more = isOverloaded ? `\n${codeAt(text, text.length - rest.length, name)}` : "";
  return code.replace(/^export (?:declare )?/, "").trim() + more;
}

/** Behind the `;` or the closing brace that ends a declaration. */
function endOf(text: string, start: number): number {
  let depth = 0;
  let isBlock = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (text.startsWith("/**", at)) at = text.indexOf("*/", at) + 1;
    else if (character === "{" || character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (character === "}") {
      depth -= 1;
      isBlock = /^export (?:declare )?(?:abstract )?(?:class|interface|enum)/.test(
        text.slice(start, start + 40),
      );
      if (depth === 0 && isBlock) return at + 1;
    } else if (character === ";" && depth === 0) return at + 1;
  }
  return text.length;
}
