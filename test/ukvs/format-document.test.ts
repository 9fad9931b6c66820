import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { lookupKeys } from "../../src/surt/covering-keys.ts";
import { addFrequencies, formatFrequency, parseFrequency } from "../../src/ukvs/frequency.ts";
import { formatHeaders, sizeLine } from "../../src/ukvs/header.ts";
import { readUkvs } from "../../src/ukvs/reader.ts";
import { formatRecord } from "../../src/ukvs/record.ts";

const text = readFileSync(new URL("../../docs/format.md", import.meta.url), "utf8");

const examples = Array.from(text.matchAll(/^```ukvs\n(.*?)^```$/gms), (match) => match[1] ?? "");

/** The cells of the table that follows a heading row, as code spans. */
function tableAfter(heading: string): string[][] {
  const start = text.indexOf(heading);
  const [, , ...rows] = text.slice(start, text.indexOf("\n\n", start)).split("\n");
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const code = (cell: string | undefined): string => cell?.replaceAll("`", "") ?? "";

describe("docs/format.md", () => {
  it("has examples", () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  it.each(examples)("shows an example in the form that writers produce:\n%s", async (example) => {
    const reader = await readUkvs([new TextEncoder().encode(example)]);
    const lines = formatHeaders(reader.headers);
    // Counted by the reader; a writer may leave blanks behind it.
    if (reader.headers.size !== undefined) lines.push(sizeLine(reader.headers.size).trimEnd());
    const frequencyAt = reader.headers.fields.values.indexOf("frequency");
    for await (const record of reader.records()) {
      lines.push(formatRecord(record, reader.headers.fields));
      const frequency = record.values[frequencyAt];
      if (frequency !== undefined) parseFrequency(frequency);
    }
    expect(`${lines.join("\n")}\n`).toBe(example);
  });

  it.each(tableAfter("| a | b | a + b |"))("adds %s and %s to %s", (a, b, sum) => {
    const added = addFrequencies(parseFrequency(code(a)), parseFrequency(code(b)));
    expect(formatFrequency(added)).toBe(code(sum));
  });

  it("lists the lookup keys and distances that are used", () => {
    const documented = tableAfter("| key | distance |").flatMap(([keys = "", distance]) =>
      keys.split(", then ").map((key) => ({ key: code(key), distance: Number(distance) })),
    );
    expect(documented).toEqual(lookupKeys("com,example,blog)/a/b"));
  });
});
