import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { PAGE } from "../page-data.ts";
import { Commands } from "../parts/commands.tsx";
import { Facts } from "../parts/facts.tsx";
import { Table } from "../parts/table.tsx";
import { PlainText } from "../parts/uri.tsx";
import { useText } from "../text.ts";
import { ArchiveTable } from "./archive-table.tsx";
import { type Health, type Span, useHealth } from "./health.ts";
import { HistoryCharts, Learnt } from "./history-charts.tsx";

/** The health of the aggregator. */
export function ServiceHealth(): JSX.Element {
  const text = useText("about");
  const { state, isAway } = useHealth();
  const [span, setSpan] = useState<Span>("minutes");
  if (state === undefined) {
    return <p class="hint">{isAway ? text("away", { time: "–" }) : text("loading")}</p>;
  }
  const { health, history } = state;
  const { learning, archives, settings, list, uptimeSeconds } = health;
  const time = text.clock(Date.parse(history.at));
  const rows = Object.entries(settings);
  return (
    <>
      <div class="card-head">
        <div>
          <h1>{text.count("archives", archives.length)}</h1>
          <p class="lede">
            {text(routingKey(health))} {text("up", { time: text.duration(uptimeSeconds * 1000) })}
          </p>
        </div>
        <p class={`live hint ${isAway ? "is-away" : ""}`} role={isAway ? "alert" : undefined}>
          {text(isAway ? "away" : "liveAt", { time })}
        </p>
      </div>
      {typeof list?.error === "string" && (
        <p class="fault">
          <PlainText value={text("listRefused", { reason: list.error })} />
        </p>
      )}
      <Overview health={health} />
      <HistoryCharts history={history} promised={learning?.promised} span={span} onSpan={setSpan} />
      <ArchiveTable archives={archives} history={history} kept={learning?.archives} span={span} />
      {learning !== null && <Learnt learning={learning} />}
      <div class="columns">
        <Programs />
        {rows.length > 0 && (
          <section class="card" lang="en">
            <h2>{text("settings")}</h2>
            <Table
              class="settings"
              rows={rows}
              columns={[
                { name: "", cell: ([name]) => name },
                { name: "", cell: ([, value]) => <PlainText value={value} /> },
              ]}
            />
          </section>
        )}
      </div>
    </>
  );
}

/** The message for how archives are selected. */
function routingKey({
  routing,
  archives,
  learning,
}: Health): "broadcast" | "routing" | "routingLearnt" | "noMaps" {
  if (!routing.isOn) return "broadcast";
  if (archives.some(({ map }) => map !== null)) return "routing";
  return learning === null ? "noMaps" : "routingLearnt";
}

function Overview({ health }: { readonly health: Health }): JSX.Element {
  const text = useText("about");
  const { routing, learning } = health;
  const recall = learning === null ? routing.recall : learning.hits;
  const range = recall && { low: text.percent(recall.low), high: text.percent(recall.high) };
  return (
    <section class="card" aria-label={text("overview")}>
      <Facts
        facts={[
          [text("questions"), text.number(routing.sessions)],
          [text("asked"), text.number(routing.asked)],
          [text("spared"), text.number(routing.spared)],
          [
            text("saved"),
            routing.asked + routing.spared === 0 ? text("unknown") : text.percent(routing.saved),
          ],
          [
            text("recall"),
            recall === undefined ? text("unknown") : text.percent(recall.value),
            range === undefined ? text("recallUnknown") : text("recallRange", range),
          ],
        ]}
      />
    </section>
  );
}

function Programs(): JSX.Element {
  const text = useText("about");
  const base = `${PAGE.origin}${PAGE.base}`;
  return (
    <Commands
      title={text("programs")}
      commands={[
        `curl ${base}/timemap/link/http://example.org/`,
        `curl -sI -H 'Accept-Datetime: Thu, 01 Jan 2015 00:00:00 GMT' ${base}/timegate/http://example.org/`,
        `curl ${base}/memento/json/2015/http://example.org/`,
        `curl ${base}/route/http://example.org/`,
      ]}
    >
      {text("programsHint")} <a href={`${PAGE.base}/openapi.json`}>{text("openapi")}</a>.{" "}
      {text("asJson")} <a href={`${PAGE.base}/about.json`}>about.json</a>.
    </Commands>
  );
}
