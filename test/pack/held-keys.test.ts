import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { mapPredictor } from "../../src/study/evaluate/predictor.ts";
import { surt as surtOf } from "../../src/surt/uri-to-surt.ts";
import { archivesOf, mapOf, routerOf } from "../aggregate/route/routing.ts";
import { anyMap, questions, uriQuestions } from "../lookup/any-map-and-questions.ts";
import { encode } from "../maps/map-files.ts";
import { packedBytes } from "./packed-bytes.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { cases } from "../support/cases.ts";

const pause = (): Promise<void> => Promise.resolve();

/** As false-absent.test.ts, for packed maps: they may say present of more, but never of less. */
describe("a packed map never says absent of what the map holds", () => {
  it("when requests are routed by it, beside a map in text", async () => {
    const folder = scratchDir();
    const archives = archivesOf({ packed: {}, text: {} });
    const updatedAt = Date.UTC(2026, 0, 1);
    await fc.assert(
      fc.asyncProperty(anyMap, anyMap, uriQuestions, async (packed, text, asked) => {
        const file = await packedBytes(packed.text, {}, folder);
        if (file === undefined) return;
        const index = await PackedLookup.ofInSlices(file, { source: "memory", pause });
        const router = await routerOf(archives, {
          packed: { index, updatedAt },
          text: mapOf(text.text, { updatedAt }),
        });
        const [held, read] = [packed, text].map((map) => new LinearReading(encode(map.text)));
        for (const [uri, at] of asked) {
          const moment = at && at + "20150101000000".slice(at.length);
          const time = moment && { from: Number(moment), until: Number(moment) };
          const decisions = router.route({ uri, ...time });
          const isAsked = (id: string): boolean =>
            decisions.some((decision) => decision.archive.id === id && decision.isAsked);
          const isLost = held.lookup(surtOf(uri), moment).present && !isAsked("packed");
          expect([uri, at, isLost]).toEqual([uri, at, false]);
          expect(isAsked("text")).toBe(read.lookup(surtOf(uri), moment).present);
          // Whether it names a key, and which, is what a lookup says.
          const { key, frequency } = await index.lookup(uri);
          expect(decisions.find(({ archive }) => archive.id === "packed")).toMatchObject({
            key,
            frequency,
          });
        }
      }),
      { numRuns: cases(120) },
    );
  });

  it("when it is evaluated", async () => {
    const folder = scratchDir();
    await fc.assert(
      fc.asyncProperty(anyMap, questions, async ({ text }, asked) => {
        const file = await packedBytes(text, {}, folder);
        if (file === undefined) return;
        const linear = new LinearReading(encode(text));
        const predictor = mapPredictor("packed", file);
        const held = asked.filter(([surt]) => linear.lookup(surt).present);
        expect(held.filter(([surt]) => !predictor.says(encode(surt)))).toEqual([]);
      }),
      { numRuns: cases(120) },
    );
  });

  it.each([[[]], [["--queries"]]])(
    "by the recall of an evaluation: generate %j",
    async (queries) => {
      const folder = scratchDir();
      const at = (name: string): string => join(folder, name);
      const hosts = ["example.com", "a.example.com", "example.org"];
      const uris = hosts.flatMap((host) =>
        Array.from(
          { length: 40 },
          (_, i) => `http://${host}/${i % 7}/${i}${i % 3 ? "" : `?q=${i}`}`,
        ),
      );
      writeFileSync(at("held.txt"), uris.map((uri) => `${uri}\n`).join(""));
      writeFileSync(at("asked.txt"), uris.map((uri) => `${uri}\n${uri}/x\n`).join(""));
      const run = async (...args: string[]): Promise<string> => {
        const { code, stdout, stderr } = await runCli(args);
        expect([code, stderr]).toEqual([0, ""]);
        return stdout;
      };
      await run("generate", "-q", ...queries, at("held.txt"), "-o", at("map.ukvs"));
      await run("pack", "-q", at("map.ukvs"), "--bits", "8", "-o", at("map.packed"));
      const given = ["--truth", at("held.txt"), "--lookups", at("asked.txt"), "--json"];
      const report: unknown = JSON.parse(await run("evaluate", "-q", at("map.packed"), ...given));
      const { size } = statSync(at("map.packed"));
      expect(report).toMatchObject({ recall: 1, bytes: size, gzipBytes: size, falseNegatives: 0 });
    },
  );
});
