import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ABOUT } from "../messages.ts";
import { PAGE } from "../page-data.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { PlainText } from "../parts/uri.tsx";
import { formatDuration, formatNumber, formatPercent, formatTime, useText } from "../text.ts";
import { ArchiveTable } from "./archive-table.tsx";
import { type Health, type Span, useHealth } from "./health.ts";
import { HistoryCharts, Learnt } from "./history-charts.tsx";

/** The health of the aggregator, as it is now. */
export function ServiceHealth(): JSX.Element {
  const text = useText(ABOUT);
  const { health, history, at, isAway } = useHealth();
  const [span, setSpan] = useState<Span>("minutes");
  if (health === undefined || history === undefined || at === undefined) {
    return <p class="hint">{isAway ? text("away", { time: "–" }) : text("loading")}</p>;
  }
  const { learning, archives, settings, list, routing } = health;
  const time = formatTime(at, text.language);
  return (
    <>
      <div class="about-head">
        <div>
          <h1>{text.count("archives", archives.length)}</h1>
          <p class="lede">
            {text(routing.isOn ? "routing" : "broadcast")}{" "}
            {text("up", { time: formatDuration(health.uptimeSeconds * 1000, text.language) })}
          </p>
        </div>
        <p class={`live ${isAway ? "is-away" : ""}`} role={isAway ? "alert" : undefined}>
          {text(isAway ? "away" : "liveAt", { time })}
        </p>
      </div>
      {list?.error !== null && list?.error !== undefined && (
        <p class="fault">
          <PlainText value={text("listRefused", { reason: list.error })} />
        </p>
      )}
      <Overview health={health} />
      <HistoryCharts
        history={history.all}
        promised={learning?.promised}
        span={span}
        onSpan={setSpan}
      />
      <ArchiveTable
        archives={archives}
        history={history.archives}
        kept={learning?.archives}
        span={span}
        now={at.getTime()}
      />
      {learning !== null && <Learnt learning={learning} />}
      <div class="columns">
        <Programs />
        <Settings settings={settings} />
      </div>
    </>
  );
}

function Overview({ health }: { readonly health: Health }): JSX.Element {
  const text = useText(ABOUT);
  const { routing, learning } = health;
  const number = (value: number): string => formatNumber(value, text.language);
  const percent = (share: number): string => formatPercent(share, text.language);
  const recall = learning === null ? routing.recall : (learning.hits ?? undefined);
  const all = routing.asked + routing.spared;
  const facts: Fact[] = [
    [text("questions"), number(routing.sessions)],
    [text("asked"), number(routing.asked)],
    [text("spared"), number(routing.spared)],
    [text("saved"), all === 0 ? text("unknown") : percent(routing.saved)],
    [
      text("recall"),
      recall === undefined ? text("unknown") : percent(recall.value),
      recall === undefined
        ? text("recallUnknown")
        : text("recallRange", { low: percent(recall.low), high: percent(recall.high) }),
    ],
  ];
  return (
    <section class="card" aria-label={text("overview")}>
      <Facts facts={facts} />
    </section>
  );
}

function Programs(): JSX.Element {
  const text = useText(ABOUT);
  const base = `${PAGE.origin}${PAGE.base}`;
  return (
    <section class="card">
      <h2>{text("programs")}</h2>
      <pre class="commands">
        {[
          `curl ${base}/timemap/link/http://example.org/`,
          `curl -sI -H 'Accept-Datetime: Thu, 01 Jan 2015 00:00:00 GMT' ${base}/timegate/http://example.org/`,
          `curl ${base}/memento/json/2015/http://example.org/`,
          `curl ${base}/route/http://example.org/`,
        ].map((command) => (
          <code key={command}>{command}</code>
        ))}
      </pre>
      <p class="hint">
        {text("programsHint")} <a href={`${PAGE.base}/openapi.json`}>{text("openapi")}</a>.{" "}
        {text("asJson")} <a href={`${PAGE.base}/about.json`}>about.json</a>.
      </p>
    </section>
  );
}

function Settings({ settings }: Pick<Health, "settings">): JSX.Element | null {
  const text = useText(ABOUT);
  const rows = Object.entries(settings);
  if (rows.length === 0) return null;
  return (
    <section class="card">
      <h2>{text("settings")}</h2>
      <table class="settings" lang="en">
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <PlainText value={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
