import { MementoMapError, quote } from "../../errors.ts";
import type { Sweep } from "../../node/evaluate/evaluate-files.ts";
import { evaluateFiles } from "../../node/evaluate/evaluate-files.ts";
import { measureBase, traceBase } from "../../node/evaluate/paper-maps.ts";
import { withOutput } from "../../node/output-file.ts";
import { packageVersion } from "../../node/package-version.ts";
import { evaluationPage } from "../../report/evaluation-page.ts";
import { evaluationText } from "../../report/evaluation-text.ts";
import { sweepText } from "../../report/sweep-text.ts";
import { usage } from "../command-line.ts";
import type { Command } from "../command.ts";
import { defineCommand } from "../command.ts";
import { ExitCode, writeText } from "../io.ts";
import { refuseOtherThanMaps } from "../map-argument.ts";
import { parsePositive } from "../sizes.ts";

export const evaluate: Command = defineCommand({
  name: "evaluate",
  summary: "Measure how well maps answer lookups",
  usage: "[MAP...] --truth BASE --lookups URIS",
  description: `
Compares what maps say with what is held: all keys of the map BASE. For each map
it gives lines, size, relative cost (lines for each row of BASE, or for each of
so many --originals), the share of right answers, and

  held hosts the same, of lookups whose host is held: the harder ones
  recall     the share of all held keys that the map calls present: always 1
  freshness  the share of --future, what was archived after BASE was made, that
             the map calls present already

Lookups are URIs or SURTs, one a line; each key counts once, unless --repeats.
Ends with status 1 when a map loses something that is held.

--sweep makes maps of BASE and measures them too: paper, all 36 pairs of weights
of the paper's table; frontier, budgets from 0.1% to 50% (with --misses trained
as well) beside weights, fixed policies, and Bloom filters of the same sizes.`,
  options: {
    truth: { type: "string", value: "BASE", help: "The map that lists all that is held." },
    lookups: { type: "string", value: "FILE", help: "What is asked for." },
    future: { type: "string", value: "FILE", help: "What was archived later." },
    baselines: { type: "boolean", help: "Add weights, fixed policies and Bloom filters." },
    sweep: { type: "string", value: "SET", help: "paper or frontier.", parse: parseSweep },
    misses: { type: "string", value: "FILE", help: "Lookups to train the sweep on." },
    originals: {
      type: "string",
      value: "N",
      help: "Relative cost for so many originals.",
      parse: parsePositive,
    },
    repeats: { type: "boolean", help: "A key asked twice counts twice." },
    "held-hosts": { type: "boolean", help: "Count only lookups of hosts that are held." },
    html: { type: "string", value: "FILE", help: "Draw accuracy over size here." },
  },
  examples: [
    {
      line: "mementomap evaluate new.ukvs --truth map.ukvs --lookups uris.txt",
      does: "how good a small map is",
    },
    {
      line: "mementomap evaluate --sweep frontier --truth map.ukvs --lookups uris.txt",
      does: "how good a map of any size can be",
    },
  ],
  async run({ positionals, values }, io) {
    const { truth, lookups } = values;
    if (truth === undefined || lookups === undefined) {
      throw usage("evaluate", "evaluate needs --truth and --lookups");
    }
    if (positionals.length === 0 && values.sweep === undefined && !values.baselines) {
      throw usage("evaluate", "nothing to evaluate: name maps, or use --sweep");
    }
    await refuseOtherThanMaps(truth, ...positionals);
    const report = await evaluateFiles(positionals, {
      truth,
      lookups,
      future: values.future,
      misses: values.misses,
      originals: values.originals,
      countsRepeats: values.repeats,
      addsBaselines: values.baselines,
      sweep: values.sweep,
      streams: io,
    });
    const evaluations = values["held-hosts"] ? report.onHeldHosts : report.all;
    const base = values.sweep === "paper" ? await measureBase(truth, io) : undefined;
    if (values.html !== undefined) {
      const html = evaluationPage({
        evaluations,
        base,
        trace: base && (await traceBase(truth, io, { hostWeight: 4, pathWeight: 2 })),
        generator: `mementomap/${packageVersion()}`,
      });
      await withOutput(values.html, io, (output) => output.write(new TextEncoder().encode(html)));
    }
    await writeText(
      io.stdout,
      values.json
        ? evaluations.map((evaluation) => `${JSON.stringify(evaluation)}\n`).join("")
        : base === undefined
          ? evaluationText(evaluations, report.onHeldHosts)
          : sweepText(base, evaluations),
    );
    const losesNothing = evaluations.every(({ recall }) => recall === 1);
    return losesNothing ? ExitCode.ok : ExitCode.negative;
  },
});

function parseSweep(text: string): Sweep {
  if (text === "paper" || text === "frontier") return text;
  throw new MementoMapError("MM_USAGE", `not a sweep: ${quote(text)}; use paper or frontier`);
}
