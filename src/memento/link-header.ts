import { tryParseDatetime } from "./datetime.ts";
import { LinkScanner } from "./link-scanner.ts";
import { targetText, valueText } from "./link-text.ts";

/** A link of a `Link` header (RFC 8288). */
export interface WebLink {
  /** As written; relative to the address of the answer. */
  readonly target: string;
  /** In lower case. */
  readonly rels: readonly string[];
  /** What the link is about, as written; the answer's own address when there is none. */
  readonly anchor: string | undefined;
  /** The media type, as written. */
  readonly type: string | undefined;
  /** From `title*` (RFC 8187) if it can be read, else from `title`. */
  readonly title: string | undefined;
  /** When a memento was made, fourteen digits as a number. */
  readonly datetime: number | undefined;
  /** The time that a TimeMap covers, fourteen digits as numbers. */
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** All parameters, by their names in lower case; of one given twice the first counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

const ENCODER = new TextEncoder();

/**
 * Reads a `Link` header, or several joined by commas. Lenient: what cannot be read is passed over.
 *
 * Linear time.
 */
export function parseLinkHeader(header: string): WebLink[] {
  const bytes = ENCODER.encode(header);
  const scanner = new LinkScanner();
  const links: WebLink[] = [];
  let at = scanner.next(bytes, 0, bytes.length, true);
  while (at !== -1) {
    links.push(linkOf(scanner, bytes));
    at = scanner.next(bytes, at, bytes.length, true);
  }
  return links;
}

function linkOf(scanner: LinkScanner, bytes: Uint8Array): WebLink {
  const parameters = new Map<string, string>();
  for (let i = 0; i < scanner.parameterCount; i++) {
    const name = targetText(bytes, scanner.nameStart(i), scanner.nameEnd(i)).toLowerCase();
    if (parameters.has(name)) continue;
    parameters.set(name, valueText(bytes, scanner.valueStart(i), scanner.valueEnd(i)));
  }
  const datetime = (name: string): number | undefined =>
    tryParseDatetime(parameters.get(name) ?? "");
  return {
    target: targetText(bytes, scanner.targetStart, scanner.targetEnd),
    rels: (parameters.get("rel") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
    anchor: parameters.get("anchor"),
    type: parameters.get("type"),
    title: extendedText(parameters.get("title*") ?? "") ?? parameters.get("title"),
    datetime: datetime("datetime"),
    from: datetime("from"),
    until: datetime("until"),
    parameters,
  };
}

/** `UTF-8'en'%C2%A3%20rates`; undefined for other encodings and what is none of it. */
function extendedText(value: string): string | undefined {
  const [, encoded] = /^utf-8'[a-z0-9-]*'(.+)$/i.exec(value) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // No UTF-8: the plain title is there for that.
    return undefined;
  }
}
