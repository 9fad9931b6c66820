import { formatAmount, formatCount, shortPercent } from "../../format.ts";
import type { PolicyCounts, PolicyResult } from "../simulate/run-policies.ts";
import { lineFigure } from "./figures.ts";
import { column, fact, type Report, table, type Table } from "./report.ts";

/** The inputs of a simulation. */
export interface SimulationFacts {
  readonly archives: number;
  readonly lookups: number;
  readonly originals: number;
  /** Figures exclude lookups up to this many distinct originals. */
  readonly from: number;
}

/** A comparison of routing policies. */
export function simulationReport(results: readonly PolicyResult[], facts: SimulationFacts): Report {
  return {
    name: "simulation",
    title: "Comparison of routing policies",
    lead: `${formatAmount(facts.lookups, "lookup")} of ${formatAmount(facts.originals, "original")}, ${formatAmount(facts.archives, "archive")}.`,
    facts: [
      fact("count", "Archives", facts.archives),
      fact("count", "Lookups", facts.lookups),
      fact("count", "Originals", facts.originals),
    ],
    sections: [
      {
        id: "results",
        title: "Policies",
        text: `Requests and recall after ${formatCount(facts.from)} distinct originals. A learner also estimates its recall, with a 95 % interval.`,
        blocks: [policyTable(results)],
      },
      {
        id: "time",
        title: "Over time",
        text: "Requests saved and results found, per interval of the stream.",
        blocks: [
          [
            overTime("saved", "Requests saved", results, savedOf),
            overTime("recall", "Recall of archives", results, recallOf),
          ],
        ],
      },
    ],
    data: { ...facts, policies: results },
  };
}

function savedOf({ requests, broadcast }: PolicyCounts): number {
  return broadcast === 0 ? 0 : 1 - requests / broadcast;
}

function recallOf({ keptHits, hits }: PolicyCounts): number {
  return hits === 0 ? 1 : keptHits / hits;
}

function policyTable(results: readonly PolicyResult[]): Table<PolicyResult> {
  return table("policies", "Policies", results, [
    column.text("Policy", ({ policy }) => policy),
    column.count("Requests", ({ total }) => total.requests),
    column.share("Saved", ({ total }) => savedOf(total), 1),
    column.ratio(
      "Recall",
      ({ total }) => recallOf(total),
      "Of archives: the queried share of those with mementos",
    ),
    column.ratio(
      "Mementos",
      ({ total: { keptMementos, mementos } }) => (mementos === 0 ? 1 : keptMementos / mementos),
      "The share of all mementos that were found",
    ),
    column.ratio("Measured", ({ learning }) => learning?.hits?.value ?? null, {
      digits: 3,
      help: "The recall of archives estimated by the learner",
    }),
    column.ratio("From", ({ learning }) => learning?.hits?.low ?? null, 3),
    column.ratio("To", ({ learning }) => learning?.hits?.high ?? null, 3),
  ]);
}

interface TimeRow {
  readonly until: number;
  readonly values: readonly number[];
}

function overTime(
  id: string,
  title: string,
  results: readonly PolicyResult[],
  of: (counts: PolicyCounts) => number,
): Table<TimeRow> {
  const [first] = results;
  return lineFigure<TimeRow>({
    id,
    title: `${title} over time`,
    caption: `${title}, per interval of the stream; lookups on a log scale.`,
    columns: [
      column.count("Lookups", ({ until }) => until),
      ...results.map(({ policy }, i) =>
        column.share<TimeRow>(policy, ({ values }) => values[i], 1),
      ),
    ],
    rows: first.parts.map(({ until }, part) => ({
      until,
      values: results.map(({ parts }) => of(parts[part])),
    })),
    isLong: false,
    x: { name: "lookups", isLog: true },
    y: { name: title.toLowerCase(), text: shortPercent },
    series: results.map(({ policy, parts }) => ({
      name: policy,
      points: parts.map((part) => ({ x: part.until, y: of(part) })),
    })),
  });
}
