import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

const textOf = (file: string): string =>
  readFileSync(join(ROOT, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");

interface Named {
  readonly file: string;
  readonly isType: boolean;
}

/** Names in `{ a, type b }` of imports or exports, with the file each comes from. */
function named(file: string, keyword: "import" | "export"): Map<string, Named> {
  const found = new Map<string, Named>();
  const clause = new RegExp(`${keyword} (type )?\\{([^}]*)\\} from "(\\.[^"]+)"`, "g");
  for (const [, type, names = "", from = ""] of textOf(file).matchAll(clause)) {
    for (const name of names.split(",").map((text) => text.trim())) {
      const isType = type !== undefined || name.startsWith("type ");
      const path = join(dirname(file), from.replace(/\.(?:js|ts)$/, ".d.ts"));
      if (name !== "") found.set(name.replace(/^type /, ""), { file: path, isType });
    }
  }
  return found;
}

/** The declaration of a name in a file, or in the one it is passed on from. */
function declarationOf(name: string, file: string): { file: string; text: string } | undefined {
  const text = textOf(file);
  const kinds = "interface|type|(?:abstract )?class|function|const";
  const start = text.search(new RegExp(`export (?:declare )?(?:${kinds}) ${name}\\b`));
  if (start === -1) {
    const from = named(file, "export").get(name);
    return from && declarationOf(name, from.file);
  }
  const rest = text.slice(start);
  const next = rest.slice(1).search(/\n(?:export|declare|interface|type|import) /);
  return { file, text: next === -1 ? rest : rest.slice(0, next + 1) };
}

/** Functions of the entries that are bound to a platform, by what they are bound from. */
const isBound = (name: string): boolean => /^[a-z]\w+On$/.test(name);

it("exports the types that signatures of functions and classes name", () => {
  const exported = new Map(
    ["index", "node", "server"].flatMap((entry) => [...named(`dist/${entry}.d.ts`, "export")]),
  );
  const bound = [...named("dist/index.d.ts", "import")].filter(([name]) => isBound(name));
  const values = [...exported].filter(([, { isType }]) => !isType);
  expect(bound.length).toBeGreaterThan(8);
  const missing = [...values, ...bound].flatMap(([name, from]) => {
    const declaration = declarationOf(name, from.file);
    if (declaration === undefined) return [`${name}: not declared`];
    const { file, text } = declaration;
    const own = Array.from(textOf(file).matchAll(/\n(?:export )?(?:interface|type) (\w+)/g));
    const known = new Set([...named(file, "import").keys(), ...own.map(([, type = ""]) => type)]);
    const words = new Set(Array.from(text.matchAll(/\b[A-Z]\w+\b/g), ([word]) => word));
    return [...words]
      .filter((word) => known.has(word) && !exported.has(word) && word !== "Platform")
      .map((word) => `${name} refers to ${word}`);
  });
  expect(missing).toEqual([]);
});
