import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { surveyMap } from "../../src/maps/map-survey.ts";
import { byBytes } from "../support/compaction-oracle.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const source = (text: string): MemorySource => new MemorySource(new TextEncoder().encode(text));

describe("surveyMap", () => {
  it("counts records and domains, and finds the totals", async () => {
    const survey = await surveyMap(
      source(`${HEAD}* 54/20\ncom,a)/ 1\ncom,b)/ 1\ncom,b)/x 3\norg,c)/ 1\n`),
    );
    expect(survey).toMatchObject({ records: 5, total: "54/20", domainCount: 2 });
    expect(survey.topDomains).toEqual([
      { domain: "com", keys: 3 },
      { domain: "org", keys: 1 },
    ]);
  });

  it("cuts between sites rather than within one, where that costs little", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => {
      const site = i < 19 ? "a" : "b";
      return `com,${site})/${String(i).padStart(2, "0")} 1\n`;
    });
    const { plan } = await surveyMap(source(HEAD + rows.join("")), { pageRecords: 20 });
    expect(plan.pages.map(({ records, first }) => [records, first])).toEqual([
      [19, "com,a)/00"],
      [20, "com,b)/19"],
      [1, "com,b)/39"],
    ]);
  });

  it("refuses a map that is not sorted, naming the line", async () => {
    await expect(surveyMap(source(`${HEAD}com,b)/ 1\ncom,a)/ 1\n`))).rejects.toMatchObject({
      code: "MM_NOT_SORTED",
      position: { line: 3 },
    });
    await expect(surveyMap(source(`${HEAD}com,b)/a 1\ncom,b)/ 1\n`))).rejects.toMatchObject({
      code: "MM_NOT_SORTED",
    });
  });

  it("puts every record on one page, keeps rows of a key together and pages small", async () => {
    const rowLists = fc.array(
      fc.tuple(fc.stringMatching(/^[a-c]{1,2}(,[a-b]{1,2}){0,2}\)\/[a-c]{0,2}$/), fc.nat(3)),
      { minLength: 1, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(rowLists, fc.integer({ min: 1, max: 12 }), async (rows, pageRecords) => {
        const lines = [...new Set(rows.map(([key, time]) => `${key} 201${time} 1\n`))].sort(
          byBytes,
        );
        const head = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
        const text = head + lines.join("");
        const { plan, records } = await surveyMap(source(text), { pageRecords });
        expect(records).toBe(lines.length);
        const bodies = plan.pages.map(({ start, end }) => text.slice(start, end));
        expect(bodies.join("")).toBe(lines.join(""));
        expect(plan.pages.map((page) => page.records)).toEqual(
          bodies.map((body) => body.split("\n").length - 1),
        );
        const keysOf = bodies.map((body) =>
          body
            .split("\n")
            .slice(0, -1)
            .map((row) => row.split(" ")[0]),
        );
        for (const [index, keys] of keysOf.entries()) {
          expect(plan.pages[index]).toMatchObject(
            keys.length === 0 ? {} : { first: keys[0], last: keys.at(-1) },
          );
          expect(keys.some((key) => keysOf[index + 1]?.includes(key))).toBe(false);
          // Longer than asked only for the rows of one key, which cannot be cut apart.
          const repeats = keys.length - new Set(keys).size;
          expect(keys.length - repeats).toBeLessThanOrEqual(pageRecords);
        }
      }),
    );
  });
});
