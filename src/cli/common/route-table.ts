import { TEXT_WIDTH, shortened } from "../../study/report/table.ts";
import { decisionJson, type Decision, type RouteReason } from "../../aggregate/route/decision.ts";

/** Reasons for people; short, so that a table fits. */
const WORDS: Readonly<Record<RouteReason, string>> = {
  "in-map": "in its map",
  "no-map": "no map to go by",
  "old-map": "map is too old",
  referer: "holds the page",
  sampled: "to test its map",
  broadcast: "all are asked",
  "not-in-map": "not in its map",
  "out-of-range": "not of that time",
  "beyond-top-k": "others likelier",
  improbable: "too unlikely",
  "not-selected": "not selected",
  dormant: "dormant",
};

const COLUMNS = ["    ", "archive", "reason", "key", "counts", "likely"] as const;
const GAP = "  ";
const MIN_KEY = 12;

/**
 * A table of decisions in at most 80 columns; long ids and keys lose their middle.
 *
 * @returns lines, without their ends.
 */
export function routeTableLines(uri: string, decisions: readonly Decision[]): string[] {
  const asked = decisions.filter(({ isAsked }) => isAsked).length;
  const rows = decisions.map((decision) => [
    decision.isAsked ? "ask" : "skip",
    shortened(decision.archive.id, 20),
    WORDS[decision.reason],
    decision.key ?? "-",
    shortened(decision.frequency ?? "-", 11),
    decision.likelihood === 0 ? "-" : decision.likelihood.toFixed(2),
  ]);
  const widths = COLUMNS.map((name, i) =>
    Math.max(name.length, ...rows.map((row) => row[i].length)),
  );
  const others = widths.reduce((sum, width, i) => (i === KEY ? sum : sum + width + GAP.length), 0);
  widths[KEY] = Math.min(widths[KEY], Math.max(MIN_KEY, TEXT_WIDTH - others));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => {
        const text = i === KEY ? shortened(cell, widths[i]) : cell;
        return i > KEY ? text.padStart(widths[i]) : text.padEnd(widths[i]);
      })
      .join(GAP)
      .trimEnd();
  const title = `${shortened(uri, TEXT_WIDTH - 30)}: ask ${asked} of ${decisions.length}`;
  return [title, line(COLUMNS), ...rows.map(line)];
}

const KEY: number = COLUMNS.indexOf("key");

/** The same as a line of JSON; what is not known is null. */
export function routeJson(uri: string, decisions: readonly Decision[]): string {
  return JSON.stringify({
    original_uri: uri,
    asked: decisions.filter(({ isAsked }) => isAsked).length,
    archives: decisions.map(decisionJson),
  });
}
