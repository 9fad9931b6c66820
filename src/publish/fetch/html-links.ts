/** Links of an HTML page, with the address they are relative to. */
export interface HtmlLinks {
  /** The `href` of `<base>`, if there is one. */
  readonly base: string | undefined;
  /** The `href` of every `<link>` of the relation, in order. */
  readonly hrefs: readonly string[];
}

/** Elements whose content is text, whatever it looks like. */
const TEXT_ELEMENTS: ReadonlySet<string> = new Set([
  "noscript",
  "script",
  "style",
  "template",
  "textarea",
  "title",
]);
const TAG_NAME = /<([a-z][a-z0-9]*)/iy;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

/**
 * Finds the `<link>` elements of a relation in the text of a page.
 *
 * Not a whole HTML parser: it knows comments, scripts and quotes, which is what it takes to find
 * elements that stand in the head. Linear time, whatever the text is.
 */
export function htmlLinks(html: string, rel: string): HtmlLinks {
  const hrefs: string[] = [];
  let base: string | undefined;
  for (const { name, text } of tags(html)) {
    if (name !== "link" && name !== "base") continue;
    const attributes = attributesOf(text);
    const href = attributes.get("href");
    if (href === undefined) continue;
    if (name === "base") base ??= href;
    else if ((attributes.get("rel") ?? "").toLowerCase().split(/\s+/).includes(rel)) {
      hrefs.push(href);
    }
  }
  return { base, hrefs };
}

/** The start tags of a page, each with what stands between its name and its end. */
function* tags(html: string): Generator<{ name: string; text: string }, void, undefined> {
  // Only ASCII letters, so that offsets stay what they are.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let at = html.indexOf("<");
  while (at !== -1) {
    if (html.startsWith("<!--", at)) {
      const end = html.indexOf("-->", at + 4);
      if (end === -1) return;
      at = html.indexOf("<", end);
      continue;
    }
    TAG_NAME.lastIndex = at;
    const name = TAG_NAME.exec(html)?.[1]?.toLowerCase();
    if (name === undefined) {
      at = html.indexOf("<", at + 1);
      continue;
    }
    const start = at + 1 + name.length;
    const end = tagEnd(html, start);
    if (end === -1) return;
    yield { name, text: html.slice(start, end) };
    const next = TEXT_ELEMENTS.has(name) ? lower.indexOf(`</${name}`, end) : end;
    if (next === -1) return;
    at = html.indexOf("<", next + 1);
  }
}

/** The offset of the `>` that ends a tag, which is not within quotes; -1 when it never ends. */
function tagEnd(html: string, start: number): number {
  for (let at = start; at < html.length; at++) {
    const letter = html[at];
    if (letter === ">") return at;
    if (letter !== '"' && letter !== "'") continue;
    at = html.indexOf(letter, at + 1);
    if (at === -1) return -1;
  }
  return -1;
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const value = decodeEntities(double ?? single ?? bare ?? "").trim();
    if (!attributes.has(name.toLowerCase())) attributes.set(name.toLowerCase(), value);
  }
  return attributes;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi,
    (all, decimal, hex, name) => {
      if (typeof name === "string") return ENTITIES[name] ?? all;
      const code = typeof hex === "string" ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
    },
  );
}
