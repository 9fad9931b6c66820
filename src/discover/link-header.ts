/** A link of a `Link` header (RFC 8288). */
export interface WebLink {
  /** As written; relative to the address of the answer. */
  readonly target: string;
  /** In lower case. */
  readonly rels: readonly string[];
  /** What the link is about, as written; the answer's own address when there is none. */
  readonly anchor: string | undefined;
  readonly type: string | undefined;
}

const TARGET = /\s*<([^<>]*)>/y;
const PARAMETER =
  /\s*;\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?/iy;
const SEPARATOR = /[\s;]*,[\s,]*/y;

/**
 * Reads a `Link` header. Lenient: what cannot be read is passed over up to the next comma.
 *
 * Of a parameter given twice the first counts. Linear time.
 */
export function parseLinkHeader(header: string): WebLink[] {
  const links: WebLink[] = [];
  let at = 0;
  while (at < header.length) {
    const target = matchAt(TARGET, header, at);
    if (target === undefined) {
      const comma = header.indexOf(",", at);
      at = comma === -1 ? header.length : comma + 1;
      continue;
    }
    at += target[0].length;
    const parameters = new Map<string, string>();
    for (;;) {
      const parameter = matchAt(PARAMETER, header, at);
      if (parameter === undefined) break;
      at += parameter[0].length;
      const name = parameter[1].toLowerCase();
      const value = parameter[2]?.replaceAll(/\\(.)/g, "$1") ?? parameter[3] ?? "";
      if (!parameters.has(name)) parameters.set(name, value);
    }
    links.push({
      target: target[1],
      rels: (parameters.get("rel") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
      anchor: parameters.get("anchor"),
      type: parameters.get("type"),
    });
    const separator = matchAt(SEPARATOR, header, at);
    if (separator !== undefined) {
      at += separator[0].length;
      continue;
    }
    const comma = header.indexOf(",", at);
    at = comma === -1 ? header.length : comma + 1;
  }
  return links;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
