import { formatAmount } from "../../errors.ts";
import { formatRfc3339 } from "../../memento/datetime.ts";
import { formatNumber, type Html, html } from "../../page/html.ts";
import type { Aggregation } from "../aggregator.ts";
import {
  type AggregatorExchange,
  aggregationHeaders,
  missingArchives,
} from "./aggregator-exchange.ts";
import { sendView, urlForm } from "./aggregator-page.ts";
import type { StatusView } from "./service-status.ts";

/** Mementos of one page; more than people read, and few enough for any browser. */
const PAGE_SIZE = 1000;

/** Whether a client asks for a TimeMap as a page: browsers do, clients of RFC 7089 name its types. */
export function wantsTimeMapPage({ request }: AggregatorExchange): boolean {
  const { accept = "" } = request.headers;
  return accept.includes("text/html") && !/link-format|json|cdxj/.test(accept);
}

/** Sends a TimeMap as a list for people. */
export function sendTimeMapPage(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  {
    status,
    page = 1,
    code = 200,
  }: { status: StatusView; page?: number | undefined; code?: number },
): void {
  const { original, mementos, archives } = aggregation;
  const base = new URL(exchange.base).pathname.replace(/\/$/, "");
  const pages = mementos.pages(PAGE_SIZE);
  const { start, end } = pages[Math.min(page, pages.length) - 1] ?? { start: 0, end: 0 };
  const rows: Html[] = [];
  for (let i = start; i < end; i += 1) {
    const { name } = archives[mementos.archiveAt(i)];
    const moment = formatRfc3339(mementos.datetimeAt(i)).replace("T", " ").replace("Z", "");
    rows.push(
      html`<li>
        <a href="${webAddress(mementos.uriAt(i))}" rel="nofollow">${moment}</a> ${name}
      </li> `,
    );
  }
  const main = html`<h1>Mementos over time</h1>
    <section class="card" aria-label="Time">
      ${urlForm(`${base}/time`, "The address of a page", original, "Show mementos")}
      <p>${countText(aggregation)}</p>
      ${missingPart(aggregation)}
      <p>
        Download
        ${["link", "json", "cdxj"].map((format) => html`<a href="${base}/timemap/${format}/${original}" type="${TYPES[format]}" download>${format}</a> `)}
      </p>
    </section>
    <section class="card">
      <h2>All mementos</h2>
      ${pager(base, original, page, pages.length)}
      <ol class="files" start="${start + 1}">
        ${rows}
      </ol>
      ${pager(base, original, page, pages.length)}
    </section>`;
  const headers = aggregationHeaders(exchange, aggregation);
  headers.push("Vary", "Accept", "X-Memento-Count", String(mementos.count));
  const content = { title: `${original} · mementos`, main };
  sendView(exchange, "time", { status, content }, { headers, code });
}

const TYPES: Readonly<Record<string, string>> = {
  link: "application/link-format",
  json: "application/json",
  cdxj: "application/cdxj+ors",
};

function countText({ mementos, outcomes, decisions }: Aggregation): string {
  const skipped = decisions.length - outcomes.length;
  const count = mementos.count === 0 ? "No memento" : formatAmount(mementos.count, "memento");
  return `${count}; ${formatAmount(outcomes.length, "archive")} asked, ${formatNumber(skipped)} not.`;
}

/** Archives whose answer is missing, and why. */
function missingPart(aggregation: Aggregation): Html | undefined {
  const missing = missingArchives(aggregation);
  if (missing.length === 0) return undefined;
  return html`<ul class="files">
    ${missing.map(({ name, reason, detail }) => html`<li>${name}<small>${reason}: ${detail}</small></li> `)}
  </ul>`;
}

function pager(base: string, original: string, page: number, pages: number): Html | undefined {
  if (pages <= 1) return undefined;
  const link = (to: number, word: string): Html | undefined =>
    to < 1 || to > pages
      ? undefined
      : html`<a href="${base}/timemap/link/${to}/${original}">${word}</a>`;
  return html`<p>
    ${link(page - 1, "Earlier")} Page ${page} of ${formatNumber(pages)} ${link(page + 1, "Later")}
  </p>`;
}

function webAddress(uri: string): string {
  return /^https?:\/\//i.test(uri) ? uri : "#";
}
