import type { Answer } from "../../map/lookup/map-lookup.ts";
import type { SplitPlan } from "../../map/split-map.ts";
import type { MapSurvey } from "../../map/map-survey.ts";
import { appPage } from "../../page/app-page.ts";
import { htmlDocument } from "../../page/document.ts";
import type { PageData } from "../../page/page-data.ts";
import {
  commands,
  factList,
  formatBytes,
  formatDay,
  formatNumber,
  type Html,
  html,
} from "../../page/html.ts";
import { coveredPart } from "../../page/key-words.ts";
import { PACKED_CONTENT_TYPE } from "../../http/reply.ts";
import { yearWords } from "../../page/year-words.ts";
import { type Count, parseFrequency } from "../../ukvs/frequency.ts";

interface PageView {
  readonly href: string;
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly records: number;
}

export interface MapView {
  readonly name: string | undefined;
  readonly archive: string | undefined;
  /** Whether the map is of an archive other than the one that publishes it. */
  readonly isThirdParty: boolean;
  readonly href: string;
  readonly updatedAt: string;
  readonly bytes: number;
  readonly survey: MapSurvey;
  /** Whether it is a packed map, of which domains and pages are not known. */
  readonly isPacked: boolean;
  readonly pages: readonly PageView[];
  /** What a URI is written behind to look at it in the archive; undefined where that is not known. */
  readonly replay?: string | undefined;
}

/** What is known of a map besides what it says itself. */
interface MapPlace {
  /** The archive it is of, where that is not the one that publishes it. */
  readonly archive?: string | undefined;
  readonly href: string;
  readonly modified: Date;
  readonly bytes: number;
  readonly pageHref: (number: number) => string;
  readonly isPacked?: boolean | undefined;
}

export function mapView(
  survey: MapSurvey,
  { archive, href, modified, bytes, pageHref, isPacked = false }: MapPlace,
  { headers, pages }: SplitPlan = survey.plan,
): MapView {
  const { name, updated_at: updatedAt } = headers.meta;
  return {
    name: typeof name === "string" ? name : undefined,
    archive: archive ?? headers.id,
    isThirdParty: archive !== undefined,
    href,
    updatedAt: typeof updatedAt === "string" ? updatedAt : modified.toISOString(),
    bytes,
    survey,
    isPacked,
    pages: pages.map(({ number, first, last, records }) => ({
      href: pageHref(number),
      first,
      last,
      records,
    })),
  };
}

function typeOf(isPacked: boolean): string {
  return isPacked ? PACKED_CONTENT_TYPE : "text/plain";
}

/** A URI that was looked up, and what each map said. */
export interface Question {
  readonly url: string;
  readonly surt: string;
  /** The keys that could decide, the most specific first. */
  readonly keys: readonly string[];
  readonly answers: readonly Answer[];
}

interface HomePage {
  /** At least one; the site's own comes first. */
  readonly maps: readonly MapView[];
  readonly question?: Question | undefined;
  /** Where the form goes; none on a site of files, which cannot answer. */
  readonly action?: string | undefined;
  /** Whole addresses, for examples to copy. */
  readonly lookupUrl?: string | undefined;
  readonly mapUrl?: string | undefined;
  readonly openApiPath?: string | undefined;
  /** Of a site that has the application. */
  readonly app?: { readonly data: PageData; readonly view: "find" | "about" } | undefined;
}

export function homePage(page: HomePage): string {
  const [first, ...others] = page.maps;
  const title = first.name ?? first.archive ?? "MementoMap";
  const head = html`${page.maps.map(({ href, isThirdParty, archive, isPacked }) =>
      // HTML has no anchor attribute: links to maps of other archives are in the HTTP header only.
      isThirdParty && archive !== undefined
        ? html``
        : html`<link rel="mementomap" href="${href}" type="${typeOf(isPacked)}" />`,
    )}
    <meta name="description" content="A summary of what ${title} holds, for Memento routing." />`;
  const intro = html`<header class="top">
    <p class="kicker">MementoMap</p>
    <h1>${title}</h1>
    <p class="lede">
      A summary of which web pages this archive holds. Aggregators use it to ask the archives that
      can answer, and to leave the others alone.
    </p>
  </header>`;
  const cards = html`${page.action === undefined ? undefined : lookupCard(page, page.action)}
  ${mapCards(first, page.action === undefined && page.app === undefined ? fileUse(first) : programUse(page))}
  ${others.map((map) => otherMap(map, first))}`;
  const footer = html`Served by mementomap. Maps are plain text, one key a line; a key such as
    <code>org,example)/a/*</code> stands for everything below <code>example.org/a</code>.`;
  const documentTitle = `${title} · MementoMap`;
  if (page.app !== undefined) {
    const main = html`${intro} ${cards}`;
    return appPage({ title: documentTitle, head, main, footer, ...page.app });
  }
  const body = html`<div class="frame">
    ${intro}
    <main>${cards}</main>
    <footer>${footer}</footer>
  </div>`;
  return htmlDocument(documentTitle, head, body);
}

function lookupCard({ question, maps }: HomePage, action: string): Html {
  return html`<section class="card" aria-label="Lookup">
    <form action="${action}" method="get" role="search">
      <label for="url">Does the archive hold this page?</label>
      <input
        id="url"
        name="url"
        type="text"
        inputmode="url"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        maxlength="8192"
        required
        placeholder="https://example.org/news"
        value="${question?.url}"
      />
      <button type="submit">Look up</button>
    </form>
    ${
      question === undefined
        ? html`<p class="hint">The answer names the key of the map that decided.</p>`
        : question.answers.map((answer, index) =>
            answerSection(question, answer, maps[index], maps.length),
          )
    }
  </section>`;
}

function mapCards(map: MapView, use: Html): Html {
  return html`${factCard(map)}
    <div class="columns">
      ${map.isPacked ? undefined : domainCard(map)}
      <div>${fileCard(map)} ${use}</div>
    </div>`;
}

function factCard({ survey, bytes, updatedAt, archive, isPacked }: MapView): Html {
  const { records, total, domainCount } = survey;
  const [mementos, originals] = (total ?? "").split("/");
  const facts: readonly (readonly [string, string])[] = [
    ["Keys", formatNumber(records)],
    ...(mementos === "" ? [] : [["Mementos", formatNumber(mementos)] as const]),
    ...(originals === undefined || originals === ""
      ? []
      : [["Original pages", formatNumber(originals)] as const]),
    ...(isPacked ? [] : [["Top-level domains", formatNumber(domainCount)] as const]),
    ["Size", formatBytes(bytes)],
    ["Updated", formatDay(updatedAt)],
  ];
  return html`<section class="card" aria-label="Totals">
    ${factList(facts)}
    ${archive === undefined ? undefined : html`<p class="hint">The map is of <a href="${webAddress(archive)}">${archive}</a>.</p>`}
  </section>`;
}

function domainCard({ survey }: MapView): Html {
  const { topDomains, records } = survey;
  const most = topDomains[0]?.keys ?? 1;
  return html`<section class="card">
    <h2>Where the keys are</h2>
    <table>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Domain</th>
          <th scope="col">Share</th>
          <th scope="col">Keys</th>
        </tr>
      </thead>
      <tbody>
        ${topDomains.map(
          ({ domain, keys }) =>
            html`<tr>
              <th scope="row">${domain}</th>
              <td class="share">
                <svg class="bar" aria-hidden="true">
                  <rect width="${((100 * keys) / most).toFixed(2)}%" height="100%" rx="3" />
                </svg>
              </td>
              <td class="number">${formatNumber(keys)}</td>
            </tr> `,
        )}
      </tbody>
    </table>
    <p class="hint">
      ${topDomains.length < survey.domainCount ? `The largest ${topDomains.length} of ${formatNumber(survey.domainCount)} domains.` : `All ${formatNumber(records)} keys by domain.`}
    </p>
  </section>`;
}

function fileCard({ href, bytes, pages, isPacked }: MapView): Html {
  if (isPacked) {
    return html`<section class="card">
      <h2>Download</h2>
      <ul class="files">
        <li>
          <a href="${href}" download="mementomap.packed">The whole map</a
          ><small>${formatBytes(bytes)}, packed</small>
        </li>
      </ul>
    </section>`;
  }
  return html`<section class="card">
    <h2>Download</h2>
    <ul class="files">
      <li>
        <a href="${href}" download="mementomap.ukvs">The whole map</a
        ><small>${formatBytes(bytes)} as text; sent compressed where the client allows it</small>
      </li>
      <li>
        In pages, for programs that want parts<small
          >${formatNumber(pages.length)} ${pages.length === 1 ? "page" : "pages"}, cut between sites
          where possible</small
        >
        <details>
          <summary>List the pages</summary>
          <ol class="pages">
            ${pages.slice(0, 500).map(
              (page) =>
                html`<li>
                  <a href="${page.href}">${formatNumber(page.records)} keys</a>
                  <code>${page.first ?? "empty"} … ${page.last}</code>
                </li> `,
            )}
          </ol>
          ${pages.length > 500 ? html`<p class="hint">The first 500 of ${formatNumber(pages.length)}.</p>` : undefined}
        </details>
      </li>
    </ul>
  </section>`;
}

function otherMap(map: MapView, first: MapView): Html {
  const isSameArchive = map.archive !== undefined && map.archive === first.archive;
  const what = isSameArchive
    ? "Another map of this archive"
    : map.isThirdParty
      ? "Published here for another archive"
      : "Published here too";
  return html`<section class="card">
    <h2>${map.name ?? map.archive ?? map.href}</h2>
    <p class="lede">
      ${what}${map.archive === undefined || isSameArchive ? undefined : html`, <a href="${webAddress(map.archive)}">${map.archive}</a>`}.
      ${formatNumber(map.survey.records)} keys, ${formatBytes(map.bytes)}, updated
      ${formatDay(map.updatedAt)}.
      <a href="${map.href}" download="mementomap.${map.isPacked ? "packed" : "ukvs"}">Download</a>
    </p>
  </section>`;
}

function programUse({ lookupUrl, mapUrl, openApiPath }: HomePage): Html {
  return html`<section class="card">
    <h2>For programs</h2>
    ${commands([
      `curl '${lookupUrl}?url=https://example.org/'`,
      `curl --data-binary @uris.txt ${lookupUrl}`,
      `curl --compressed -o map.ukvs ${mapUrl}`,
    ])}
    <p class="hint">
      The interface is described in <a href="${openApiPath}">OpenAPI</a>. Clients find the map by
      the link relation <code>mementomap</code>.
    </p>
  </section>`;
}

function fileUse({ href, archive }: MapView): Html {
  const site = webAddress(archive ?? "").replace(/^#$/, "https://archive.example.org/");
  return html`<section class="card">
    <h2>Look a page up</h2>
    <p class="hint">
      These are plain files. The <code>mementomap</code> command asks them without a download where
      the server answers range requests:
    </p>
    ${commands([
      `mementomap fetch ${site} --lookup https://example.org/`,
      `mementomap fetch ${site} -o map.ukvs`,
      `curl -o map.ukvs ${site.replace(/\/$/, "")}/${href}`,
    ])}
  </section>`;
}

/** What an archive says about itself may become a link only if it is a web address. */
function webAddress(text: string): string {
  return /^https?:\/\//i.test(text) ? text : "#";
}

/** What a map says about a URI, with the keys that were tried and which one decided. */
function answerSection(question: Question, answer: Answer, map: MapView, mapCount: number): Html {
  const { present, key, frequency } = answer;
  const years = yearWords(answer.years);
  const decidedAt = key === undefined ? -1 : question.keys.findIndex((tried) => isSame(tried, key));
  return html`<div class="answer">
    <h2>
      <span class="verdict ${present ? "yes" : "no"}">${present ? "Present" : "Absent"}</span>
      ${mapCount > 1 ? (map.name ?? map.archive) : undefined}
    </h2>
    <p>
      ${sentence(answer)}${key === undefined || frequency === undefined ? undefined : html` ${counts(key, frequency)}`}
      ${years === undefined ? undefined : `What the archive holds of its host is of ${years}.`}
    </p>
    ${present ? replayLink(map, question) : undefined}
    <ol class="ladder" aria-label="Keys in the order they are tried">
      ${steps(question.keys, decidedAt)}
    </ol>
  </div>`;
}

/** The keys up to the one that decided, and how many were not looked at. */
function steps(keys: readonly string[], decidedAt: number): Html[] {
  const tried = decidedAt === -1 ? keys : keys.slice(0, decidedAt);
  const list = tried.map((key) => html`<li>${key} <span>not in the map</span></li> `);
  if (decidedAt === -1) return list;
  list.push(html`<li class="decided">${keys[decidedAt]} <span>decided</span></li> `);
  const left = keys.length - decidedAt - 1;
  if (left > 0)
    list.push(
      html`<li>
        <span>${counted({ value: left, bound: "exact" }, "wider key")} not needed</span>
      </li> `,
    );
  return list;
}

function sentence({ present, key, distance = 0 }: Answer): Html {
  if (key === undefined) return html`No key of the map covers this address.`;
  const what = present ? "The archive may hold this page" : "The archive does not hold this page";
  if (distance === 0) return html`${what}: the map has a key for exactly this page.`;
  return html`${what}: the key <code>${key}</code>, ${distance} ${distance === 1 ? "step" : "steps"}
    above the page, covers it.`;
}

/** What the frequency counts: captures of the page, or of all that a wildcard stands for. */
function counts(key: string, frequency: string): Html {
  const { mementos, originals } = parseFrequency(frequency);
  const parts = [
    mementos === undefined ? "" : counted(mementos, "capture"),
    originals === undefined ? "" : counted(originals, "page"),
  ].filter((part) => part !== "");
  const amount = parts.length === 0 ? "captures; how many is not said" : parts.join(" of ");
  const code = html` (<code>${frequency}</code>).`;
  if (!key.endsWith("*")) return html`It has ${amount}${code}`;
  return html`${coveredBy(key)} has ${amount}${code} How many of them are of this page is not said.`;
}

/** What a wildcard stands for: `Its folder arxiv.org/pdf/`, `Its site arxiv.org`, `All of .com`. */
function coveredBy(key: string): Html {
  const { kind, name } = coveredPart(key);
  if (kind === "all") return html`All of <code>.${name}</code>`;
  return html`Its ${kind} <code>${name}</code>`;
}

/** Where the page can be looked at, if that is known of the archive. */
function replayLink({ replay }: MapView, { url }: Question): Html | undefined {
  if (replay === undefined) return undefined;
  return html`<p><a href="${replay}${url}" rel="nofollow">Look at it in the archive</a></p>`;
}

function counted({ value, bound }: Count, noun: string): string {
  const words = { exact: "", atLeast: "at least ", atMost: "at most ", about: "about " };
  return `${words[bound]}${formatNumber(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Older maps write the home page `com,cnn)`. */
function isSame(tried: string, key: string): boolean {
  return tried === key || tried === `${key}/`;
}
