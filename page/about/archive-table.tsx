import type { JSX } from "preact";
import type { LearningReport } from "../../src/aggregate/learn/learner.ts";
import { type Column, Table } from "../parts/table.tsx";
import { PlainText } from "../parts/uri.tsx";
import { type Text, useText } from "../text.ts";
import type { ArchiveHealth, History, Span, SpanCounts } from "./health.ts";

/** All archives: state, map, responses, and requests saved. */
export function ArchiveTable(props: {
  readonly archives: readonly ArchiveHealth[];
  readonly history: History;
  readonly kept: LearningReport["archives"] | undefined;
  readonly span: Span;
}): JSX.Element {
  const { archives, history, kept, span } = props;
  const text = useText("about");
  const now = Date.parse(history.at);
  const keptColumn: Column<ArchiveHealth> = {
    name: text("kept"),
    class: "number",
    cell: ({ id }) => shareText(kept?.find((each) => each.id === id)?.hits?.value, text),
  };
  const columns: readonly Column<ArchiveHealth>[] = [
    {
      name: text("archive"),
      cell: ({ id, name }) => (
        <>
          <PlainText value={name} />
          <small>
            <PlainText value={id} />
          </small>
        </>
      ),
    },
    { name: text("state"), cell: (archive) => <State archive={archive} now={now} /> },
    { name: text("map"), class: "map", cell: ({ map }) => <MapState map={map} now={now} /> },
    {
      name: text("askedColumn"),
      class: "number",
      cell: ({ asked, skipped }) => (
        <span>
          {text.number(asked)}
          <small> {text("skipped", { count: skipped })}</small>
        </span>
      ),
    },
    {
      name: text("answersColumn"),
      class: "mix",
      cell: (archive) => <Answers archive={archive} />,
    },
    {
      name: text("timeColumn"),
      class: "number",
      cell: ({ medianMs, p99Ms }) =>
        medianMs === undefined || p99Ms === undefined ? (
          <small>–</small>
        ) : (
          <span>
            {text.duration(medianMs)}
            <small> {text("p99", { time: text.duration(p99Ms) })}</small>
          </span>
        ),
    },
    ...(kept === undefined ? [] : [keptColumn]),
    {
      name: text("historyColumn"),
      class: "hour",
      cell: ({ id }) => <Spark counts={history.archives[id]?.[span]} />,
    },
  ];
  const tones = [
    ["hit", text("legendHit")],
    ["miss", text("legendMiss")],
    ["error", text("legendFailed")],
  ] as const;
  return (
    <section class="card">
      <h2>{text("archivesTitle")}</h2>
      <Table class="archives" columns={columns} rows={archives} />
      <ul class="legend">
        {tones.map(([tone, words]) => (
          <li key={tone}>
            <svg class="key block" aria-hidden="true">
              <rect class={tone} width="100%" height="100%" rx="2" />
            </svg>
            {words}
          </li>
        ))}
      </ul>
    </section>
  );
}

function State({ archive, now }: { readonly archive: ArchiveHealth; now: number }): JSX.Element {
  const text = useText("about");
  const { health, consecutiveFailures, dormantUntil, lastFailure } = archive;
  const isWell = health === "awake" && consecutiveFailures === 0;
  const tone = health === "dormant" ? "no" : isWell ? "yes" : "warn";
  const restMs = Date.parse(dormantUntil ?? "") - now;
  return (
    <span>
      <span class={`badge ${tone}`}>
        {health === "awake" && !isWell
          ? text.count("failures", consecutiveFailures)
          : `${text(health)} ${restMs > 0 ? text.duration(restMs) : ""}`.trim()}
      </span>
      {!isWell && lastFailure !== null && <Note words={lastFailure} />}
    </span>
  );
}

function Note({ words }: { readonly words: string }): JSX.Element {
  return (
    <small>
      {" "}
      <PlainText value={words} />
    </small>
  );
}

function MapState({ map, now }: { readonly map: ArchiveHealth["map"]; now: number }): JSX.Element {
  const text = useText("about");
  if (map === null) return <small>{text("noMap")}</small>;
  const count = text.count("keys", map.keys);
  const keys = map.packed === true ? text("packedKeys", { keys: count }) : count;
  const time = map.updatedAt === null ? "" : text.duration(now - Date.parse(map.updatedAt));
  const fault = map.contradicted?.detail ?? map.error;
  return (
    <span>
      <span class={`badge ${map.status === "ready" ? "calm" : "warn"}`}>
        {text(`map-${map.status}`)}
      </span>
      {map.keys > 0 && <Note words={time === "" ? keys : text("old", { keys, time })} />}
      {fault !== null && <Note words={fault} />}
    </span>
  );
}

function Answers({ archive }: { readonly archive: ArchiveHealth }): JSX.Element {
  const text = useText("about");
  const { asked, hits, misses, errors } = archive;
  if (asked === 0) return <small>{text("none")}</small>;
  const share = (count: number): string => shareText(count / asked, text);
  const width = (count: number): string => `${((100 * count) / asked).toFixed(2)}%`;
  const label = { hits: share(hits), misses: share(misses), failed: share(errors) };
  return (
    <span>
      {share(hits)}
      {errors > 0 && <small> {text("failed", { count: errors })}</small>}
      <svg class="stack" role="img" aria-label={text("mix", label)}>
        <rect class="miss" width="100%" height="100%" />
        <rect class="error" x={width(asked - errors)} width={width(errors)} height="100%" />
        <rect class="hit" width={width(hits)} height="100%" />
      </svg>
    </span>
  );
}

const SPARK_HEIGHT = 30;

/** One bar per interval: queried below, saved above, scaled to the highest. */
function Spark({ counts }: { readonly counts: SpanCounts | undefined }): JSX.Element {
  const text = useText("about");
  const { asked = [], spared = [] } = counts ?? {};
  const sums = asked.map((count, place) => count + (spared[place] ?? 0));
  const max = Math.max(0, ...sums);
  if (max === 0) return <small>{text("none")}</small>;
  const bar = (place: number, from: number, to: number): string => {
    if (to === from) return "";
    const low = SPARK_HEIGHT * (1 - from / max);
    const high = Math.min(low - 1, SPARK_HEIGHT * (1 - to / max));
    return `M${place * 2} ${low.toFixed(2)}h1.5V${high.toFixed(2)}h-1.5z`;
  };
  const label = `${text("askedShort")}: ${text.number(total(asked))}; ${text("sparedShort")}: ${text.number(total(spared))}`;
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${sums.length * 2} ${SPARK_HEIGHT + 1}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path class="base" d={`M0 ${SPARK_HEIGHT + 0.5}H${sums.length * 2}`} />
      <path class="asked" d={asked.map((count, i) => bar(i, 0, count)).join("")} />
      <path class="spared" d={sums.map((sum, i) => bar(i, asked[i] ?? 0, sum)).join("")} />
    </svg>
  );
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function shareText(share: number | undefined, text: Text<"about">): string {
  return share === undefined ? "–" : text.percent(share);
}
