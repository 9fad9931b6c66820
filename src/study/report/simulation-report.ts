import type { PolicyCounts, PolicyResult } from "../simulate/run-policies.ts";
import { lineChart } from "../../page/chart/line-chart.ts";
import { figureHtml } from "./figure.ts";
import { card, pageHtml, type RunRecord } from "./page.ts";
import {
  decimal,
  numbers,
  share,
  type Table,
  texts,
  textTable,
  type TextTable,
  textWidth,
  whole,
} from "./table.ts";
import {
  percent,
  shortNumber,
  shortPercent,
  TEXT_WIDTH,
  wholeNumber,
} from "../../page/text-format.ts";

/** What a simulation was of. */
export interface SimulationFacts {
  readonly archives: number;
  readonly lookups: number;
  readonly originals: number;
  /** Figures are from this many different originals on. */
  readonly from: number;
}

function sparedOf({ requests, broadcast }: PolicyCounts): number {
  return broadcast === 0 ? 0 : 1 - requests / broadcast;
}

function keptOf(kept: number, all: number): number {
  return all === 0 ? 1 : kept / all;
}

function resultTable(
  results: readonly PolicyResult[],
  { from }: SimulationFacts,
): Table<PolicyResult> {
  return {
    id: "policies",
    title: "Policies",
    textTitle: `Policies, after ${wholeNumber(from)} different originals`,
    columns: [
      texts("Policy", ({ policy }) => policy),
      numbers("Requests", ({ total }) => whole(total.requests), { short: "asked" }),
      numbers("Spared %", ({ total }) => share(sparedOf(total), 1)),
      numbers("Recall, archives", ({ total }) => decimal(keptOf(total.keptHits, total.hits), 4), {
        short: "recall",
      }),
      numbers(
        "Recall, mementos",
        ({ total }) => decimal(keptOf(total.keptMementos, total.mementos), 4),
        { short: "mementos" },
      ),
      texts("Measured", ({ learning }) => measuredText(learning), {
        help: "The recall of archives as the learner measured it, with its 95 % interval",
        // In a terminal it has a table of its own: the names of policies are long.
        short: null,
      }),
      numbers(
        "Time, ms",
        ({ total }) => whole(Math.round(total.latencyMs / Math.max(1, total.lookups))),
        {
          short: "ms",
        },
      ),
      numbers("MB", ({ total }) => decimal(total.bytes / 1e6, 0), { short: "mb" }),
    ],
    rows: results,
  };
}

function measuredText(learning: PolicyResult["learning"]): string {
  const { hits } = learning ?? {};
  if (hits === undefined) return "-";
  return `${hits.value.toFixed(3)} ${hits.low.toFixed(3)}–${hits.high.toFixed(3)}`;
}

/** What learners say of themselves. */
function measuredTable(results: readonly PolicyResult[]): TextTable<PolicyResult> {
  return {
    title: "Recall of archives as learners measured it, and its 95 % interval",
    columns: [
      texts("Policy", ({ policy }) => policy),
      numbers("Measured", ({ learning }) => decimal(learning?.hits?.value, 3)),
      numbers("From", ({ learning }) => decimal(learning?.hits?.low, 3)),
      numbers("To", ({ learning }) => decimal(learning?.hits?.high, 3)),
    ],
    rows: results,
  };
}

interface TimeRow {
  readonly until: number;
  readonly spared: readonly number[];
}

function timeTable(results: readonly PolicyResult[]): Table<TimeRow> {
  const [first] = results;
  return {
    id: "over-time",
    title: "Spared over time, in percents",
    columns: [
      numbers("Lookups", ({ until }) => whole(until)),
      ...results.map(({ policy }, i) =>
        numbers<TimeRow>(policy, ({ spared }) => share(spared[i], 1)),
      ),
    ],
    rows: first.parts.map(({ until }, part) => ({
      until,
      spared: results.map(({ parts }) => sparedOf(parts[part])),
    })),
  };
}

/** Tables of as many policies as fit beside each other in a terminal. */
function timeTables(results: readonly PolicyResult[]): Table<TimeRow>[] {
  const tables: Table<TimeRow>[] = [];
  for (let start = 0; start < results.length;) {
    let end = start + 1;
    while (
      end < results.length &&
      textWidth(timeTable(results.slice(start, end + 1))) <= TEXT_WIDTH
    ) {
      end++;
    }
    tables.push(timeTable(results.slice(start, end)));
    start = end;
  }
  return tables;
}

/** What came of policies as text. */
export function simulationText(results: readonly PolicyResult[], facts: SimulationFacts): string {
  const head = `${wholeNumber(facts.lookups)} lookups of ${wholeNumber(facts.originals)} originals, ${facts.archives} archives`;
  const learners = results.filter(({ learning }) => learning !== undefined);
  const blocks = [[head], textTable(resultTable(results, facts))];
  if (learners.length > 0) {
    blocks.push(textTable(measuredTable(learners)), ...timeTables(learners).map(textTable));
  }
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** What came of policies as a page. */
export function simulationPage(
  results: readonly PolicyResult[],
  facts: SimulationFacts,
  run: RunRecord,
): string {
  const chart = (id: string, title: string, of: (counts: PolicyCounts) => number): string =>
    figureHtml({
      ...timeTable(results),
      id,
      title,
      caption: "Of each part of the stream since the mark before; lookups on a scale by magnitude.",
      drawing: lineChart({
        x: { name: "lookups", isLog: true },
        y: { name: title.toLowerCase(), text: shortPercent },
        series: results.map(({ policy, parts }) => ({
          name: policy,
          points: parts.map((part) => ({ x: part.until, y: of(part) })),
        })),
      }),
    });
  const best = results.filter(({ learning }) => learning !== undefined);
  return pageHtml({
    title: "Which archives to ask",
    lead: `${shortNumber(facts.lookups)} lookups of ${shortNumber(facts.originals)} originals, ${facts.archives} archives, policies side by side.`,
    tiles: best.map(({ policy, total }) => ({
      name: policy,
      value: `${percent(sparedOf(total), 1)} % spared`,
      remark: `recall ${keptOf(total.keptHits, total.hits).toFixed(4)}`,
    })),
    sections: [
      {
        id: "results",
        title: "Policies",
        text: `Requests, recall, time and bytes after ${wholeNumber(facts.from)} different originals.`,
        content: card(resultTable(results, facts)),
      },
      {
        id: "time",
        title: "Over time",
        text: "What is spared and kept as the stream goes on.",
        content: `${chart("spared", "Spared", sparedOf)}${chart("recall", "Recall of archives", (counts) => keptOf(counts.keptHits, counts.hits))}`,
      },
    ],
    data: { facts, results, run },
    dataName: "simulation.json",
    run,
  });
}
