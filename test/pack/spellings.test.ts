import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { foreignSpellings } from "../../src/surt/spelling.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import type { PackOptions } from "../../src/pack/pack-files.ts";
import { lookupKeys } from "../../src/surt/covering-keys.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { encode } from "../maps/map-files.ts";
import { packedBytes } from "./packed-bytes.ts";
import { scratchDir } from "../support/scratch.ts";
import { anyUri } from "../surt/uri-arbitraries.ts";
import { cases } from "../support/cases.ts";

/** Text of some pieces, which are given with blanks between them. */
function textOf(pieces: string): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...pieces.split(" ")), { maxLength: 6 })
    .map((some) => some.join(""));
}

const oddHost = textOf("com a b , ) / %29 %2f %2c - * %2a é %c3%a9 [ ] : ::1 :80 :ff 4 www");
const oddPath = textOf("/ a b * %2a é %c3%a9 %ff ) )/ , ? ?x");
const address = fc.constantFrom("::1", "2001:db8::1", "::ffff:1.2.3.4", "::", "1:2");
const port = fc.constantFrom("80", "8080", "foo", "ff", "99999", "80:90");

/** SURTs of URIs and from elsewhere, with all that maps have spelled otherwise once. */
const anySurt: fc.Arbitrary<string> = fc
  .oneof(
    anyUri.map(surt),
    fc.tuple(oddHost, oddPath).map(([host, path]) => `${host})/${path}`),
    fc.tuple(oddHost, oddPath).map(([host, path]) => surt(`http://${host}/${path}`)),
    fc
      .tuple(address, port, oddPath)
      .map((parts) => surt(`http://[${parts[0]}]:${parts[1]}/${parts[2]}`)),
    oddPath.map((path) => `dns:a.com${path}`),
  )
  // Where a query comes before the `)/` there is no host, though a key with this text would have one.
  .filter((text) => !/^[^)]*\?.*\)(?:\/|$)/.test(text));

/** A SURT, and some rows that may decide about it. */
interface Asked {
  readonly surt: string;
  readonly picks: readonly {
    readonly key: number;
    readonly spelling: number;
    readonly frequency: string;
  }[];
}

const anyAsked: fc.Arbitrary<Asked[]> = fc.array(
  fc.record({
    surt: anySurt,
    picks: fc.array(
      fc.record({
        key: fc.nat(12),
        spelling: fc.nat(15),
        frequency: fc.constantFrom("1", "5", "/", "900", "0"),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  { minLength: 1, maxLength: 5 },
);

interface Row {
  readonly key: string;
  readonly frequency: string;
}

/** Rows by which lookups find the SURTs, as older maps spell some of them. */
function rowsOf(all: readonly Asked[], queries: boolean): Row[] {
  const rows = new Map<string, Row>();
  for (const { surt: text, picks } of all) {
    const keys = lookupKeys(text, { queries });
    for (const { key: at, spelling, frequency } of picks) {
      const { key } = keys[at % keys.length];
      const spellings = [key, ...foreignSpellings(key, { queries })];
      const written = spellings[spelling % spellings.length];
      if (/^[!@"{\ufeff]|^\*?$|\s/.test(written) || /^[^)]*\?.*\)(?:\/|$)/.test(written)) continue;
      rows.set(written, { key: written, frequency });
    }
  }
  return [...rows.values()].toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)),
  );
}

function mapOf(rows: readonly Row[], { queries, isTimed }: Form): string {
  const fields = {
    keys: isTimed ? ["surt", "datetime"] : ["surt"],
    values: ["frequency"],
    ...(queries ? { queries } : {}),
  };
  const lines = rows.map(({ key, frequency }, i) =>
    isTimed ? `${key} ${2001 + (i % 20)} ${frequency}\n` : `${key} ${frequency}\n`,
  );
  return `!fields ${JSON.stringify(fields)}\n${lines.join("")}`;
}

interface Form {
  readonly queries: boolean;
  readonly isTimed: boolean;
}

const form: fc.Arbitrary<Form> = fc.record({ queries: fc.boolean(), isTimed: fc.boolean() });
const options: fc.Arbitrary<Partial<PackOptions>> = fc.constantFrom<Partial<PackOptions>[]>(
  {},
  { bits: 24 },
  { bits: 1 },
  { bits: 0 },
  { maxBytes: 700 },
  { maxBytes: 1000 },
  { maxBytes: 1500, bits: 5 },
);

/** Packs a map; undefined where it holds nothing, or needs more bytes. */
async function packed(
  text: string,
  options: Partial<PackOptions>,
  folder: string,
): Promise<Uint8Array | undefined> {
  try {
    return await packedBytes(text, options, folder);
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_BUDGET") return undefined;
    throw error;
  }
}

describe("a map packed, however its keys are spelled", () => {
  it.each([
    ["com,a)/b)/x", "com,a)/b)/x", false],
    ["com,a%29%2fb)/x", "com,a%29%2fb)/x", false],
    ["2001:db8::1:ff)/x", "2001:db8::1:ff)/x", false],
    // The labels of `http://a...com/`, of which one is empty.
    ["com,,*", "com,,a)/", false],
    ["mailto:a?x=1", "mailto:a?x=1", false],
  ])("finds %s by %s, with queries: %s", async (key, asked, queries) => {
    const text = mapOf([{ key, frequency: "1" }], { queries, isTimed: false });
    const file = await packedBytes(text, { bits: 24 });
    const answers = [
      MemoryIndex.build(encode(text)).lookupSurtSync(asked),
      await PackedLookup.of(file ?? new Uint8Array(0), "memory").lookupSurt(asked),
    ];
    expect(answers.map(({ present }) => present)).toEqual([true, true]);
  });

  it("packs wildcards with queries, which lookups never ask for", async () => {
    const file = await packedBytes("com,a)/*?x 1\ncom,b)/ 1\n", { bits: 24 });
    expect(file?.length).toBeGreaterThan(0);
  });

  it("does not take a host with an escaped `)/` for a host and a path", () => {
    const map = MemoryIndex.build(encode("com,a)/b)/x 1\n"));
    expect(map.lookupSurtSync("com,a%29%2fb)/x").present).toBe(false);
    expect(map.lookupSync("http://a%29%2fb.com/x").present).toBe(true);
  });

  it("never calls absent what a lookup in the map finds", async () => {
    const folder = scratchDir();
    await fc.assert(
      fc.asyncProperty(anyAsked, form, options, async (all, form, sized) => {
        const rows = rowsOf(all, form.queries);
        if (rows.length === 0) return;
        const text = mapOf(rows, form);
        const file = await packed(text, sized, folder);
        if (file === undefined) return;
        expect(await lost(all, text, file)).toEqual([]);
      }),
      { numRuns: cases(120) },
    );
  });
});

/** What a map holds, and its packed form calls absent. */
async function lost(all: readonly Asked[], text: string, file: Uint8Array): Promise<string[]> {
  const map = MemoryIndex.build(encode(text));
  const lookup = PackedLookup.of(file, "memory");
  const found: string[] = [];
  for (const { surt: asked } of all) {
    for (const at of [undefined, "2001", "2005"]) {
      if (!map.lookupSurtSync(asked, { at }).present) continue;
      if (!(await lookup.lookupSurt(asked, { at })).present) found.push(`${asked} at ${at}`);
    }
  }
  return found;
}
