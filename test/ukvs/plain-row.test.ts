import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyFault } from "../../src/maps/map-faults.ts";
import { plainKeyEnd } from "../../src/ukvs/row.ts";
import { type ValidateOptions, validateMap } from "../../src/maps/validate-map.ts";
import { parseFrequency } from "../../src/ukvs/frequency.ts";
import { UkvsHeaders } from "../../src/ukvs/header.ts";
import { parseRecord } from "../../src/ukvs/record.ts";

const encoder = new TextEncoder();

/** The key of a row that is plain. */
function plainKey(line: string): string | undefined {
  // In the middle of others, so that nothing beyond the line is looked at.
  const bytes = encoder.encode(`9)/*${line}9)/* 9`);
  const end = plainKeyEnd(bytes, 4, bytes.length - 6);
  return end === -1 ? undefined : new TextDecoder().decode(bytes.subarray(4, end));
}

const keyParts = fc.array(
  fc.constantFrom(...'com,example)/a/*b?-\t "{}!@%A:é.'.split(""), "com", ",*", ")/", "/*", "//"),
  { maxLength: 12 },
);
/** Of those that begin well, every third or so is a key. */
const key = fc
  .tuple(fc.constantFrom("", "com,example", "com,example)/a"), keyParts)
  .map(([start, parts]) => start + parts.join(""));
const frequency = fc
  .array(fc.constantFrom("0", "1", "9007199254740991", "/", "+", "-", "~", " ", "{}", "x"), {
    maxLength: 4,
  })
  .map((parts) => parts.join(""));

describe("plainKeyEnd", () => {
  it.each([
    ["com,cnn)/ 1", "com,cnn)/"],
    ["com,cnn)/a/b 250+/40~", "com,cnn)/a/b"],
    ["com,cnn)/a/* 0", "com,cnn)/a/*"],
    ["com,cnn,* 12-", "com,cnn,*"],
    ["com,example:8080)/x(1)_%20 123456789012345", "com,example:8080)/x(1)_%20"],
    ["com,cnn)/a/ 1", undefined],
    ["com,cnn)/a? 1", undefined],
    ["com,cnn)/a*b 1", undefined],
    ["com,cnn)/*/a 1", undefined],
    ["com,cnn,*)/ 1", undefined],
    ["com,,cnn)/ 1", undefined],
    ["Com,cnn)/ 1", undefined],
    ["com,cnn) 1", undefined],
    ["com,cnn)/ 1234567890123456", undefined],
    ["com,cnn)/ 1/", undefined],
    ["com,cnn)/  1", undefined],
    ["com,cnn)/ 1 {}", undefined],
    ["com,cnn)/", undefined],
    ["*", undefined],
  ])("%j", (line, expected) => {
    expect(plainKey(line)).toBe(expected);
  });

  it("never takes a row for plain in which a closer look finds a fault", () => {
    const { fields } = new UkvsHeaders();
    let plain = 0;
    fc.assert(
      fc.property(key, frequency, (someKey, someFrequency) => {
        const line = `${someKey} ${someFrequency}`;
        const found = plainKey(line);
        if (found === undefined) return;
        plain += 1;
        const record = parseRecord(line, fields);
        expect(record.keys).toEqual([found]);
        expect(keyFault(found)).toBeUndefined();
        parseFrequency(record.values[0] ?? "");
      }),
      { numRuns: 5000 },
    );
    expect(plain).toBeGreaterThan(0);
  });
});

/** `3 bad-key` for each fault, in the order of lines. */
async function faultsOf(text: string, options?: ValidateOptions): Promise<string[]> {
  const faults: string[] = [];
  for (let chunk = 16; chunk < 64; chunk += 47) {
    const bytes = encoder.encode(text);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += chunk) chunks.push(bytes.subarray(at, at + chunk));
    for await (const { line, code, severity } of validateMap(chunks, options)) {
      if (options === undefined && severity !== "error") continue;
      faults.push(`${String(line).padStart(4)} ${code}`);
    }
  }
  return faults.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

describe("validateMap", () => {
  const good = fc
    .tuple(fc.constantFrom("com,a", "com,b", "org,c"), fc.stringMatching(/^[a-z]{0,2}$/))
    .map(([host, path]) => `${host})/${path} 1`);
  const rows = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: good },
      fc.tuple(key, frequency).map(([someKey, someFrequency]) => `${someKey} ${someFrequency}`),
    ),
    { maxLength: 12 },
  );

  it("finds the same errors at a glance and by a closer look, with warnings or without", async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), async (lines, isSorted) => {
        const ordered = isSorted ? lines.toSorted((a, b) => (a < b ? -1 : 1)) : lines;
        const text = ordered.map((line) => `${line.replaceAll("é", "e")}\n`).join("");
        const found = await faultsOf(text);
        expect(await faultsOf(text, { isOnlyErrors: true })).toEqual(found);
        // No row with two blanks is plain, and they mean the same.
        expect(await faultsOf(text.replaceAll(/ (?=[\d/])/g, "  "))).toEqual(found);
      }),
      { numRuns: 300 },
    );
  });
});
