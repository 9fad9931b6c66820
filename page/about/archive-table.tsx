import type { JSX } from "preact";
import { ABOUT } from "../messages.ts";
import { PlainText } from "../parts/uri.tsx";
import { formatDuration, formatNumber, formatPercent, type Text, useText } from "../text.ts";
import type { ArchiveHealth, History, Learning, Span, SpanCounts } from "./health.ts";

type AboutText = Text<keyof (typeof ABOUT)["en"]>;

/** How every archive is: its state, its map, what it answered, and what it was spared. */
export function ArchiveTable(props: {
  readonly archives: readonly ArchiveHealth[];
  readonly history: History["archives"];
  readonly kept: Learning["archives"];
  readonly span: Span;
  readonly now: number;
}): JSX.Element {
  const { archives, history, kept, span, now } = props;
  const text = useText(ABOUT);
  const columns = [
    "archive",
    "state",
    "map",
    "askedColumn",
    "answersColumn",
    "timeColumn",
    ...(kept === undefined ? [] : (["kept"] as const)),
    "historyColumn",
  ] as const;
  const numbers: readonly string[] = ["askedColumn", "timeColumn", "kept"];
  return (
    <section class="card">
      <h2>{text("archivesTitle")}</h2>
      <table class="archives">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" class={numbers.includes(column) ? "number" : undefined}>
                {text(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {archives.map((archive) => (
            <tr key={archive.id}>
              <th scope="row">
                <PlainText value={archive.name} />
                <small>
                  <PlainText value={archive.id} />
                </small>
              </th>
              <td data-label={text("state")}>
                <State archive={archive} now={now} />
              </td>
              <td data-label={text("map")} class="map">
                <MapState map={archive.map} now={now} />
              </td>
              <td data-label={text("askedColumn")} class="number">
                <span>
                  {formatNumber(archive.asked, text.language)}
                  <small> {text("skipped", { count: archive.skipped })}</small>
                </span>
              </td>
              <td data-label={text("answersColumn")} class="mix">
                <Answers archive={archive} />
              </td>
              <td data-label={text("timeColumn")} class="number">
                <Times archive={archive} />
              </td>
              {kept !== undefined && (
                <td data-label={text("kept")} class="number">
                  {shareText(kept.find(({ id }) => id === archive.id)?.hits?.value, text)}
                </td>
              )}
              <td data-label={text("historyColumn")} class="hour">
                <Spark counts={history[archive.id]?.[span]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul class="legend">
        <LegendItem tone="hit" words={text("legendHit")} />
        <LegendItem tone="miss" words={text("legendMiss")} />
        <LegendItem tone="error" words={text("legendFailed")} />
      </ul>
    </section>
  );
}

function LegendItem({
  tone,
  words,
}: {
  readonly tone: string;
  readonly words: string;
}): JSX.Element {
  return (
    <li>
      <svg aria-hidden="true">
        <rect class={tone} width="100%" height="100%" rx="2" />
      </svg>
      {words}
    </li>
  );
}

function State({ archive, now }: { readonly archive: ArchiveHealth; now: number }): JSX.Element {
  const text = useText(ABOUT);
  const { health, consecutiveFailures, dormantUntil, lastFailure } = archive;
  const isWell = health === "awake" && consecutiveFailures === 0;
  const tone = health === "dormant" ? "no" : isWell ? "yes" : "warn";
  const rest =
    dormantUntil === null
      ? ""
      : ` ${formatDuration(Date.parse(dormantUntil) - now, text.language)}`;
  const word =
    health === "awake" && !isWell
      ? text.count("failures", consecutiveFailures)
      : `${text(health)}${health === "dormant" ? rest : ""}`;
  return (
    <span>
      <span class={`badge ${tone}`}>{word}</span>
      {!isWell && lastFailure !== null && (
        <small>
          {" "}
          <PlainText value={lastFailure} />
        </small>
      )}
    </span>
  );
}

const MAP_WORDS = {
  ready: "ready",
  loading: "mapLoading",
  stale: "stale",
  failed: "mapFailed",
} as const;

function MapState({ map, now }: { readonly map: ArchiveHealth["map"]; now: number }): JSX.Element {
  const text = useText(ABOUT);
  if (map === null) return <small>{text("noMap")}</small>;
  const count = text.count("keys", map.keys);
  const keys = map.packed === true ? text("packedKeys", { keys: count }) : count;
  const time =
    map.updatedAt === null ? "" : formatDuration(now - Date.parse(map.updatedAt), text.language);
  const fault = map.contradicted?.detail ?? map.error;
  return (
    <span>
      <span class={`badge ${map.status === "ready" ? "calm" : "warn"}`}>
        {text(MAP_WORDS[map.status])}
      </span>
      {map.keys > 0 && <small> {time === "" ? keys : text("old", { keys, time })}</small>}
      {fault !== null && (
        <small>
          {" "}
          <PlainText value={fault} />
        </small>
      )}
    </span>
  );
}

function Answers({ archive }: { readonly archive: ArchiveHealth }): JSX.Element {
  const text = useText(ABOUT);
  const { asked, hits, misses, errors: failed } = archive;
  if (asked === 0) return <small>{text("none")}</small>;
  const share = (count: number): string => shareText(count / asked, text);
  const width = (count: number): string => `${((100 * count) / asked).toFixed(2)}%`;
  return (
    <span>
      {share(hits)}
      {failed > 0 && <small> {text("failed", { count: failed })}</small>}
      <svg
        class="stack slim"
        role="img"
        aria-label={text("mix", {
          hits: share(hits),
          misses: share(misses),
          failed: share(failed),
        })}
      >
        <rect class="miss" width="100%" height="100%" />
        <rect class="error" x={width(asked - failed)} width={width(failed)} height="100%" />
        <rect class="hit" width={width(hits)} height="100%" />
      </svg>
    </span>
  );
}

function Times({ archive }: { readonly archive: ArchiveHealth }): JSX.Element {
  const text = useText(ABOUT);
  const { medianMs, p99Ms } = archive;
  if (medianMs === undefined || p99Ms === undefined) return <small>–</small>;
  return (
    <span>
      {formatDuration(medianMs, text.language)}
      <small> {text("p99", { time: formatDuration(p99Ms, text.language) })}</small>
    </span>
  );
}

const SPARK_HEIGHT = 30;

/** A bar for each span: asked below, spared above. The highest is as high as there is room. */
function Spark({ counts }: { readonly counts: SpanCounts | undefined }): JSX.Element {
  const text = useText(ABOUT);
  const { asked = [], spared = [] } = counts ?? {};
  const sums = asked.map((count, place) => count + (spared[place] ?? 0));
  const most = Math.max(0, ...sums);
  if (most === 0) return <small>{text("none")}</small>;
  const path = (of: (place: number) => readonly [from: number, to: number]): string =>
    sums
      .map((_, place) => {
        const [from, to] = of(place);
        if (to === from) return "";
        const low = SPARK_HEIGHT * (1 - from / most);
        const high = Math.min(low - 1, SPARK_HEIGHT * (1 - to / most));
        return `M${place * 2} ${low.toFixed(2)}h1.5V${high.toFixed(2)}h-1.5z`;
      })
      .join("");
  const label = `${text("askedShort")}: ${formatNumber(total(asked), text.language)}; ${text("sparedShort")}: ${formatNumber(total(spared), text.language)}`;
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
      <path class="asked" d={path((place) => [0, asked[place] ?? 0])} />
      <path class="spared" d={path((place) => [asked[place] ?? 0, sums[place] ?? 0])} />
    </svg>
  );
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function shareText(share: number | undefined, text: AboutText): string {
  return share === undefined ? "–" : formatPercent(share, text.language);
}
