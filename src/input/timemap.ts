import { MementoMapError, quote } from "../errors.ts";
import { RowLines } from "./row-lines.ts";
import { wholeText } from "./whole-text.ts";

export interface TimeMapOptions {
  readonly source: string;
  /** Take only mementos whose address has this in its host or path; for TimeMaps of aggregators. */
  readonly archive?: string | undefined;
}

interface TimeMapMemento {
  readonly uri: string;
  readonly date: string;
}

interface TimeMap {
  readonly original: string;
  readonly mementos: Iterable<TimeMapMemento>;
}

/**
 * Reads TimeMaps, in link format (RFC 7089), JSON or CDXJ as MemGator writes them, as lines of
 * `ROW_LINE_COLUMNS`: one for each memento, with the original URI.
 *
 * Holds the whole TimeMap.
 *
 * @throws MM_BAD_INPUT where there is no original, or a datetime is none; MM_LIMIT when too large.
 */
export async function* timeMapRows(
  chunks: AsyncIterable<Uint8Array>,
  { source, archive }: TimeMapOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { original, mementos } = parseTimeMap(await wholeText(chunks, source), source);
  const lines = new RowLines();
  for (const { uri, date } of mementos) {
    if (archive !== undefined && !uri.includes(archive)) continue;
    lines.add({ uri: original, date });
    if (lines.isFull) yield lines.take();
  }
  if (!lines.isEmpty) yield lines.take();
}

function parseTimeMap(text: string, source: string): TimeMap {
  const first = text.trimStart()[0];
  if (first === "<") return linkTimeMap(text, source);
  return first === "{" ? jsonTimeMap(text, source) : cdxjTimeMap(text, source);
}

/** One link: its target and what follows, with quoted parts taken whole. */
const LINK = /<([^>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]*))?)*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))/g;

function linkTimeMap(text: string, source: string): TimeMap {
  let original: string | undefined;
  const mementos: TimeMapMemento[] = [];
  for (const [, uri = "", rest = ""] of text.matchAll(LINK)) {
    const parameters = new Map<string, string>();
    for (const [, name = "", quoted, bare] of rest.matchAll(PARAMETER)) {
      parameters.set(name.toLowerCase(), quoted ?? bare ?? "");
    }
    const relations = (parameters.get("rel") ?? "").toLowerCase().split(/\s+/);
    if (relations.includes("original")) original ??= uri;
    if (relations.includes("memento")) {
      mementos.push({ uri, date: httpDate(parameters.get("datetime") ?? "", source) });
    }
  }
  return { original: original ?? missingOriginal(source), mementos };
}

function jsonTimeMap(text: string, source: string): TimeMap {
  const value = parseObject(text, source);
  const original = value["original_uri"];
  const list = isObject(value["mementos"]) ? value["mementos"]["list"] : undefined;
  const mementos: TimeMapMemento[] = [];
  for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
    if (!isObject(item)) continue;
    const { uri, datetime } = item;
    mementos.push({ uri: String(uri), date: isoDate(String(datetime), source) });
  }
  return {
    original: typeof original === "string" ? original : missingOriginal(source),
    mementos,
  };
}

function cdxjTimeMap(text: string, source: string): TimeMap {
  const original = /^[!@]meta\s.*"original_uri":\s*("(?:[^"\\]|\\.)*")/m.exec(text)?.[1];
  const mementos: TimeMapMemento[] = [];
  for (const [, date = "", json = ""] of text.matchAll(/^(\d{14}) (\{.*\})\r?$/gm)) {
    mementos.push({ uri: String(parseObject(json, source)["uri"]), date });
  }
  return {
    original: original === undefined ? missingOriginal(source) : String(JSON.parse(original)),
    mementos,
  };
}

/** `Tue, 20 Jun 2000 18:02:59 GMT` as fourteen digits. */
function httpDate(text: string, source: string): string {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return digitsOf(new Date(time).toISOString());
  throw new MementoMapError("MM_BAD_INPUT", `a memento has no datetime, but ${quote(text)}`, {
    position: { source },
  });
}

function isoDate(text: string, source: string): string {
  const digits = digitsOf(text);
  return /^\d{14}$/.test(digits) ? digits : httpDate(text, source);
}

function digitsOf(iso: string): string {
  return iso.replaceAll(/\D/g, "").slice(0, 14);
}

function parseObject(text: string, source: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new MementoMapError("MM_BAD_INPUT", `not a TimeMap: ${quote(text)} is no JSON`, {
      position: { source },
      cause,
    });
  }
  throw new MementoMapError("MM_BAD_INPUT", "not a TimeMap: expected a JSON object", {
    position: { source },
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function missingOriginal(source: string): never {
  throw new MementoMapError("MM_BAD_INPUT", "the TimeMap does not say which original it is of", {
    position: { source },
  });
}
