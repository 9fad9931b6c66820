import type { Answer } from "../../../map/lookup/lookup.ts";
import { parseFrequency } from "../../../ukvs/frequency.ts";
import type { Count } from "../../../ukvs/frequency.ts";
import { formatNumber } from "./format.ts";
import type { MapView, Question } from "./home-page.ts";
import { type Html, html } from "./html.ts";

/** What a map says about a URI, with the keys that were tried and which one decided. */
export function answerSection(
  question: Question,
  answer: Answer,
  map: MapView,
  mapCount: number,
): Html {
  const { present, key, frequency } = answer;
  const decidedAt = key === undefined ? -1 : question.keys.findIndex((tried) => isSame(tried, key));
  return html`<div class="answer">
    <h2>
      <span class="verdict ${present ? "yes" : "no"}">${present ? "Present" : "Absent"}</span>
      ${mapCount > 1 ? (map.name ?? map.archive) : undefined}
    </h2>
    <p>
      ${sentence(answer)}${key === undefined || frequency === undefined ? undefined : html` ${counts(key, frequency)}`}
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
  const [hosts = "", path] = key.split(")", 2);
  const labels = hosts.split(",").filter((label) => label !== "*" && label !== "");
  const host = labels.reverse().join(".");
  if (path === undefined) return html`All of <code>.${host}</code>`;
  const folder = path.slice(0, -1);
  return folder === "/"
    ? html`Its site <code>${host}</code>`
    : html`Its folder <code>${host}${folder}</code>`;
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
