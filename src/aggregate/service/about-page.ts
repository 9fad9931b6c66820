import type { ArchiveTally, RoutingReport } from "../statistics.ts";
import { factList, formatNumber, type Html, html } from "../../page/html.ts";
import { formatShare } from "../../page/text-format.ts";
import { learningFacts, rangeText } from "./learning-facts.ts";
import type { ArchiveStatus, StatusView } from "./service-status.ts";

/** The dashboard: what routing saves, and how every archive is. Needs no JavaScript. */
export function aboutContent(
  status: StatusView,
  service: {
    readonly version: string;
    readonly base: string;
    readonly hasMonitor: boolean;
    readonly hasMetrics: boolean;
  },
): {
  readonly title: string;
  readonly main: Html;
  readonly footer: Html;
} {
  const archives = status.archives();
  const main = html`<header class="top">
      <p class="kicker">Memento aggregator</p>
      <h1>${formatNumber(archives.length)} web archives as one</h1>
      <p class="lede">
        ${
          status.isRouting
            ? "Asks the archives that can answer, by the maps of what they hold, and leaves the others alone."
            : "Asks all archives: routing is switched off."
        }
        Up for ${formatAgo(status.now - status.startedAt)}.
      </p>
    </header>
    ${routingCard(status)} ${archiveCard(archives, status)} ${programCard(service)}
    ${settingsCard(status.settings)}`;
  const metrics = service.hasMetrics
    ? html`, and for <a href="${service.base}/metrics">Prometheus</a>`
    : html``;
  const footer = html`mementomap ${service.version}. The same as
    <a href="${service.base}/about.json">JSON</a>${metrics}.`;
  return { title: "Memento aggregator", main, footer };
}

function routingCard(status: StatusView): Html {
  const report = status.routing();
  const facts: readonly (readonly [string, string])[] = [
    ["Questions", formatNumber(report.sessions)],
    ["Archives asked", formatNumber(report.asked)],
    ["Requests spared", formatNumber(report.spared)],
    ["Saved", report.asked + report.spared === 0 ? "not known yet" : formatShare(report.saved)],
    ["Answers kept", keptText(report)],
  ];
  return html`<section class="card" aria-label="Routing">
    ${factList(facts)}
    <div class="saving">
      ${savingBar(report)}
      <ul class="legend">
        <li>${key("asked")}asked</li>
        <li>${key("spared")}spared, of what asking everybody would take</li>
      </ul>
    </div>
    <p class="hint">${estimateText(report)}</p>
    ${learningPart(status)}
  </section>`;
}

/** What learning promises and keeps, and what it spared after so many lookups. */
function learningPart(status: StatusView): Html {
  const report = status.learning();
  if (report === undefined) return html``;
  return html`<h3>Learnt</h3>
    ${factList(learningFacts(report))}
    <p class="hint">
      Measured is what was kept lately, of what all archives would have answered, with an interval
      of 95 %: some archives are asked although they are unlikely to have anything.
    </p>`;
}

function savingBar({ asked, spared, saved }: RoutingReport): Html {
  const all = asked + spared;
  if (all === 0) {
    return html`<svg class="stack empty" role="img" aria-labelledby="no-requests"></svg>
      <p class="hint" id="no-requests">No requests yet.</p>`;
  }
  return html`<svg class="stack" role="img" aria-label="${formatShare(saved)} of requests spared">
    <rect class="spared" width="100%" height="100%" />
    <rect class="asked" width="${((100 * asked) / all).toFixed(2)}%" height="100%" />
  </svg>`;
}

function keptText({ recall }: RoutingReport): string {
  return recall === undefined ? "not known yet" : formatShare(recall.value);
}

function estimateText({ sampled, sampledHits, missRate, recall }: RoutingReport): string {
  if (missRate === undefined || recall === undefined) {
    return "How many answers routing misses is not known yet: no archive that it would spare was asked as a sample.";
  }
  return `Of ${formatNumber(sampled)} spared archives that were asked as a sample, ${formatNumber(sampledHits)} had mementos (${rangeText(missRate)} of all, with a confidence of 95 %). So ${rangeText(recall)} of the answers of a broadcast are kept.`;
}

function archiveCard(archives: readonly ArchiveStatus[], { list, now }: StatusView): Html {
  return html`<section class="card">
    <h2>Archives</h2>
    ${listFault(list, now)}
    <table class="archives">
      <thead>
        <tr>
          <th scope="col">Archive</th>
          <th scope="col">State</th>
          <th scope="col">Map</th>
          <th scope="col" class="number">Asked</th>
          <th scope="col">Answers</th>
          <th scope="col" class="number">Time</th>
          <th scope="col">Last hour</th>
        </tr>
      </thead>
      <tbody>
        ${archives.map((archive) => archiveRow(archive, now))}
      </tbody>
    </table>
    <ul class="legend">
      <li>${key("hit")}has mementos</li>
      <li>${key("miss")}has none</li>
      <li>${key("error")}failed or was late</li>
    </ul>
  </section>`;
}

function listFault(list: StatusView["list"], now: number): Html {
  if (list?.error === undefined) return html``;
  const age = formatAgo(now - list.takenAt);
  return html`<p class="refused">
    <span class="badge no">list refused</span> ${list.error}. The list from ${age} ago stays in use.
  </p>`;
}

function archiveRow({ archive, upstream, tally, map }: ArchiveStatus, now: number): Html {
  return html`<tr>
    <th scope="row">${archive.name}<small>${archive.id}</small></th>
    <td data-label="State">${stateBadge(upstream, now)}</td>
    <td data-label="Map" class="map">${mapCell(map, now)}</td>
    <td data-label="Asked" class="number">
      <span
        >${formatNumber(tally.asked)}<small> ${formatNumber(tally.skipped)} skipped</small></span
      >
    </td>
    <td data-label="Answers" class="mix">${answerMix(tally)}</td>
    <td data-label="Time" class="number">${timeCell(tally)}</td>
    <td data-label="Last hour" class="hour">${sparkline(tally.lastHour)}</td>
  </tr> `;
}

function stateBadge(upstream: ArchiveStatus["upstream"], now: number): Html {
  const { health, consecutiveFailures, dormantUntil, lastFailure } = upstream;
  const why = lastFailure === undefined ? undefined : html`<small> ${lastFailure}</small>`;
  if (health === "dormant") {
    const rest = dormantUntil === undefined ? "" : ` for ${formatAgo(dormantUntil - now)}`;
    return html`<span><span class="badge no">dormant${rest}</span>${why}</span>`;
  }
  if (health === "probing") {
    return html`<span><span class="badge warn">being tried</span>${why}</span>`;
  }
  if (consecutiveFailures === 0) return html`<span><span class="badge yes">awake</span></span>`;
  const times = consecutiveFailures === 1 ? "once" : `${consecutiveFailures} times`;
  return html`<span><span class="badge warn">failed ${times}</span>${why}</span>`;
}

function mapCell(map: ArchiveStatus["map"], now: number): Html {
  if (map === undefined) return html`<small>none</small>`;
  const age = map.updatedAt === undefined ? "" : `, ${formatAgo(now - map.updatedAt)} old`;
  const unit = `${map.isPacked === true ? "packed " : ""}${map.keys === 1 ? "key" : "keys"}`;
  const keys = map.keys === 0 ? "" : `${formatNumber(map.keys)} ${unit}${age}`;
  const tone = map.status === "ready" ? "calm" : "warn";
  return html`<span
    ><span class="badge ${tone}">${map.status}</span
    ><small> ${keys} ${map.error} ${staleText(map, now)}</small></span
  >`;
}

/** What answers say that contradicts the map. */
function staleText({ contradicted }: NonNullable<ArchiveStatus["map"]>, now: number): Html {
  if (contradicted === undefined) return html``;
  const { kind, share, since, example } = contradicted;
  const what = kind === "missing" ? "of what the archive has is not in it" : "of its keys are gone";
  return html`For ${formatAgo(now - since)}, answers contradict it: ${formatShare(share)} or more
  ${what}, such as ${example}. What was learnt decides until the map changes. Ask the archive for a
  new one, or take it out of the list.`;
}

function answerMix(tally: ArchiveTally): Html {
  const { asked, hits, misses } = tally;
  const failed = tally.errors + tally.late;
  if (asked === 0) return html`<small>none yet</small>`;
  const share = (count: number): string => `${((100 * count) / asked).toFixed(2)}%`;
  const label = `${formatShare(hits / asked)} hits, ${formatShare(misses / asked)} misses, ${formatShare(failed / asked)} failures`;
  return html`<span>
    ${formatShare(hits / asked)}<small> ${formatNumber(failed)} failed</small>
    <svg class="stack slim" role="img" aria-label="${label}">
      <rect class="miss" width="100%" height="100%" />
      <rect class="error" x="${share(asked - failed)}" width="${share(failed)}" height="100%" />
      <rect class="hit" width="${share(hits)}" height="100%" />
    </svg>
  </span>`;
}

function timeCell({ medianMs, p99Ms }: ArchiveTally): Html {
  if (medianMs === undefined || p99Ms === undefined) return html`<small>–</small>`;
  return html`<span>${formatMs(medianMs)}<small> p99 ${formatMs(p99Ms)}</small></span>`;
}

/** A bar a minute; the highest is as high as there is room. */
function sparkline(minutes: readonly number[]): Html {
  const most = Math.max(...minutes);
  if (most === 0) return html`<small>nothing</small>`;
  const bars = minutes.map((count, index) => {
    if (count === 0) return html``;
    const height = Math.max(2, (30 * count) / most);
    return html`<rect
      x="${index * 2}"
      y="${(30 - height).toFixed(2)}"
      width="1.5"
      height="${height.toFixed(2)}"
    /> `;
  });
  const total = minutes.reduce((sum, count) => sum + count, 0);
  return html`<span
    ><svg
      class="spark"
      viewBox="0 0 120 31"
      preserveAspectRatio="none"
      role="img"
      aria-label="asked ${formatNumber(total)} times in the last hour"
    >
      <line x1="0" y1="30.5" x2="120" y2="30.5" />
      ${bars}</svg
    ><small>up to ${formatNumber(most)} a minute</small></span
  >`;
}

function key(name: string): Html {
  return html`<svg aria-hidden="true">
    <rect class="${name}" width="100%" height="100%" rx="2" />
  </svg>`;
}

function programCard({ base, hasMonitor }: { base: string; hasMonitor: boolean }): Html {
  const monitor = hasMonitor ? `\ncurl -N ${base}/monitor` : "";
  return html`<section class="card">
    <h2>For programs</h2>
    <pre><code>curl ${base}/timemap/link/http://example.org/
curl -sI -H 'Accept-Datetime: Thu, 01 Jan 2015 00:00:00 GMT' ${base}/timegate/http://example.org/
curl ${base}/memento/json/2015/http://example.org/
curl ${base}/summary/http://example.org/
curl ${base}/route/http://example.org/${monitor}</code></pre>
    <p class="hint">
      As MemGator and Time Travel were asked. The interface is described in
      <a href="${base}/openapi.json">OpenAPI</a>.
    </p>
  </section>`;
}

function settingsCard(settings: Readonly<Record<string, string>>): Html {
  const rows = Object.entries(settings);
  if (rows.length === 0) return html``;
  return html`<section class="card">
    <h2>Settings</h2>
    <table class="settings">
      <tbody>
        ${rows.map(
          ([name, value]) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td>${value}</td>
            </tr> `,
        )}
      </tbody>
    </table>
  </section>`;
}

/** The style of the dashboard, besides that of all pages. */
export const ABOUT_STYLE = `
.saving { margin: 1.3rem 0 0; }
svg.stack { display: block; width: 100%; height: 1rem; border-radius: .3rem; }
svg.stack.empty { box-sizing: border-box; border: 1px solid var(--line); }
svg.stack.slim { height: .5rem; margin-top: .35rem; }
.asked, .hit { fill: var(--c0); } .spared { fill: var(--bar); } .miss { fill: var(--c7); } .error { fill: var(--c1); }
svg.stack rect { stroke: var(--card); stroke-width: 1px; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: .5rem 0 0; padding: 0; list-style: none; color: var(--soft); font-size: .88rem; }
.legend svg { display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; vertical-align: -.05rem; }
.archives th, .archives td { padding: .75rem .6rem; border-top: 1px solid var(--line); vertical-align: top; }
.archives tr > :first-child { padding-left: 0; } .archives tr > :last-child { padding-right: 0; }
.archives thead th { padding-top: 0; border-top: 0; color: var(--soft); font-size: .85rem; vertical-align: bottom; white-space: nowrap; }
.archives th[scope=row] { width: 22%; font: 600 1rem/1.4 var(--sans); overflow-wrap: anywhere; }
.archives small { display: block; color: var(--soft); font: .82rem/1.45 var(--sans); overflow-wrap: anywhere; }
.archives th small { font-family: var(--mono); font-weight: 400; font-size: .78rem; }
.archives .number { width: auto; padding: .75rem .6rem; text-align: right; color: inherit; white-space: nowrap; }
.archives thead .number { padding-top: 0; color: var(--soft); }
.archives .map { width: 17%; }
.archives .mix { width: 15%; }
.archives .hour { width: 8.5rem; }
.refused { margin: 0 0 1rem; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: .05em .7em; border-radius: 2em; font: 600 .82rem/1.7 var(--sans); white-space: nowrap; }
.calm { background: var(--calm); color: var(--calm-ink); }
.warn { background: var(--mark); color: var(--ink); }
svg.spark { display: block; width: 100%; height: 1.9rem; }
svg.spark rect { fill: var(--c0); }
svg.spark line { stroke: var(--line); stroke-width: 1; }
.settings th[scope=row] { width: 14rem; vertical-align: top; }
.settings td { overflow-wrap: anywhere; }
@media (max-width: 52rem) {
  .archives, .archives tbody, .archives tr, .archives th, .archives td { display: block; width: auto; }
  .archives thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .archives tr { padding: .9rem 0; border-top: 1px solid var(--line); }
  .archives tbody tr:first-child { border-top: 0; padding-top: 0; }
  .archives th[scope=row], .archives td, .archives .number, .archives .map, .archives .mix, .archives .hour { width: auto; padding: .15rem 0; border: 0; text-align: left; }
  .archives td[data-label] { display: grid; grid-template-columns: 6.2rem minmax(0, 1fr); align-items: baseline; }
  .archives td.hour { align-items: start; }
  .archives td[data-label]::before { content: attr(data-label); color: var(--soft); font-size: .85rem; }
  .archives small { display: inline; }
  .archives th small, .archives .hour small { display: block; }
  .settings th[scope=row] { width: 9rem; }
}
`;

/** A time that passed, for people, in its largest unit: `3 days`, `1 hour`, `12 s`. */
export function formatAgo(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["min", 60],
  ] as const;
  for (const [name, length] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0) return `${count} ${name}${count > 1 && name !== "min" ? "s" : ""}`;
  }
  return "";
}

/** A time an answer took: `12 ms`, `1.4 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
