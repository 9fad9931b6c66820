import { MementoMapError, quote } from "../errors.ts";
import { surt } from "../surt/surt.ts";
import { serverAddress } from "./server-address.ts";

/** A capture that a full-text search found. */
export interface FoundCapture {
  readonly uri: string;
  /** Fourteen digits. */
  readonly date: string;
  readonly mime: string | undefined;
  readonly status: string | undefined;
  /** Title and snippet, from which more words can be learnt. */
  readonly text: string;
}

/** What to search for. */
export interface TextSearch {
  readonly word: string;
  readonly maxItems: number;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Longer than what there is any use for; a line of all of them is still one that can be read. */
const MAX_MEMBER_CHARACTERS = 1 << 14;

/**
 * The request for a word, as Arquivo.pt's text search takes it.
 *
 * @throws MM_USAGE for an address that is none.
 */
export function searchUrl(api: string, { word, maxItems, from, to }: TextSearch): string {
  const url = serverAddress(api);
  url.searchParams.set("q", word);
  url.searchParams.set("maxItems", String(maxItems));
  if (from !== undefined) url.searchParams.set("from", from);
  if (to !== undefined) url.searchParams.set("to", to);
  return url.href;
}

/** What an answer tells of. */
export interface SearchAnswer {
  readonly captures: readonly FoundCapture[];
  /** Items without a URI or a datetime that is of use. */
  readonly leftOut: number;
}

/**
 * The captures in an answer of Arquivo.pt's text search: members of `response_items` with
 * `originalURL` and `tstamp`. Items that lack either are left out, and counted, and so are those
 * whose URI is longer than 16,384 characters.
 *
 * @throws MM_BAD_INPUT for any other answer.
 */
export function parseSearchAnswer(text: string, source: string): SearchAnswer {
  const items = itemsOf(text, source);
  const found: FoundCapture[] = [];
  for (const item of items) {
    const uri = textOf(item, "originalURL");
    const date = textOf(item, "tstamp");
    if (uri === undefined || uri.trim() === "" || uri.length > MAX_MEMBER_CHARACTERS) continue;
    if (date === undefined || !/^\d{14}$/.test(date)) continue;
    found.push({
      uri,
      date,
      mime: startOf(textOf(item, "mimeType")),
      status: startOf(textOf(item, "statusCode")),
      text: `${startOf(textOf(item, "title")) ?? ""} ${plainText(startOf(textOf(item, "snippet")) ?? "")}`,
    });
  }
  return { captures: found, leftOut: items.length - found.length };
}

/** A found capture as a line of CDXJ, without its end. */
export function foundLine({ uri, date, mime, status }: FoundCapture): string {
  return `${surt(uri)} ${date} ${JSON.stringify({ url: uri, mime, status })}`;
}

function itemsOf(text: string, source: string): Record<string, unknown>[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw notAnAnswer(text, source, cause);
  }
  const items = isObject(value) ? value["response_items"] : undefined;
  if (!Array.isArray(items)) throw notAnAnswer(text, source);
  return (items as unknown[]).map((item) => (isObject(item) ? item : {}));
}

function notAnAnswer(text: string, source: string, cause?: unknown): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `not an answer of a text search, which has "response_items": ${quote(text)}`,
    { position: { source }, cause },
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(item: Record<string, unknown>, name: string): string | undefined {
  const value = item[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function startOf(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_MEMBER_CHARACTERS);
}

/** Snippets mark the words that were found: `<em>word</em>`. */
function plainText(html: string): string {
  return html.replaceAll(/<[^>]*>|&\w+;/g, " ");
}
