import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

const ENTRIES = ["index", "node", "server"].map((name) => `dist/${name}.d.ts`);
/** Of the parts that classes are made of within the package; nobody else makes these classes. */
const INTERNAL = new Set([
  "SourceLookup",
  "IndexedSource",
  "PackedSource",
  "KeySource",
  "IndexedRows",
  "RowFinder",
  "PackedNames",
  "PackedHeader",
  "PackedKey",
  "ReadBytes",
  "Outcome",
  "LineBatch",
  "PendingLines",
  "Environment",
  // What the command line connects: processes of one service, and what they learn.
  "Bus",
  "Learner",
  "MonitorPeers",
  "Peers",
  // How services are made: their routes, what handlers are given and reply, and what is counted.
  "Exchange",
  "Reply",
  "ReplyHeaders",
  "RequestCount",
  "Route",
  "ServiceParts",
  // What archives are asked by.
  "Client",
  // The names in `InputFormat`.
  "FormatName",
]);

const textOf = (file: string): string =>
  readFileSync(join(ROOT, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");

/** Names in `{ a, type b }` of imports or exports, with the file each comes from. */
function named(file: string, keyword: "import" | "export"): Map<string, string> {
  const found = new Map<string, string>();
  const clause = new RegExp(`${keyword} (?:type )?\\{([^}]*)\\} from "(\\.[^"]+)"`, "g");
  for (const [, names = "", from = ""] of textOf(file).matchAll(clause)) {
    for (const name of names.split(",")) {
      const own = name.trim().replace(/^type /, "");
      if (own !== "") found.set(own, join(dirname(file), from.replace(/\.(?:js|ts)$/, ".d.ts")));
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
    return from === undefined ? undefined : declarationOf(name, from);
  }
  const rest = text.slice(start);
  const next = rest.slice(1).search(/\n(?:export|declare|interface|type|import) /);
  return { file, text: next === -1 ? rest : rest.slice(0, next + 1) };
}

describe("the types of the entries", () => {
  const exported = new Map(ENTRIES.flatMap((entry) => [...named(entry, "export")]));

  it("refer only to types that an entry exports too", () => {
    expect(exported.size).toBeGreaterThan(150);
    const missing = [...exported].flatMap(([name, from]) => {
      const declaration = declarationOf(name, from);
      if (declaration === undefined) return [`${name}: not declared`];
      const { file, text } = declaration;
      const own = Array.from(textOf(file).matchAll(/\n(?:export )?(?:interface|type) (\w+)/g));
      const known = new Set([...named(file, "import").keys(), ...own.map(([, type]) => type)]);
      const words = new Set(Array.from(text.matchAll(/\b[A-Z]\w+\b/g), ([word]) => word));
      return [...words]
        .filter((word) => known.has(word) && !exported.has(word) && !INTERNAL.has(word))
        .map((word) => `${name} refers to ${word}`);
    });
    expect(missing).toEqual([]);
  });
});
