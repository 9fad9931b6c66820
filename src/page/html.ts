/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | undefined | readonly (string | Html)[];

/** Makes HTML of a template; every value in it that is not HTML itself is escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0];
  for (const [index, part] of parts.entries()) text += `${shown(part)}${strings[index + 1]}`;
  return new Html(text);
}

function shown(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "number") return String(part);
  if (typeof part === "string") return escapeHtml(part);
  return part.map(shown).join("");
}

/** Escapes for text and for attributes in double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** A number for people: `3,900,000`; digits followed by a suffix of a count keep it. */
export function formatNumber(value: number | string): string {
  const [, digits = "", suffix = ""] = /^(\d+)([+~-]?)$/.exec(String(value)) ?? [];
  const words: Readonly<Record<string, string>> = { "-": " at most", "~": " about" };
  const grouped = digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return digits === "" ? String(value) : `${grouped}${words[suffix] ?? suffix}`;
}

/** A number of bytes for people: `812 B`, `64.0 kB`, `1.1 GB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `2018-09-03T13:27:52Z` → `3 Sep 2018`; text that is not a date is returned unchanged. */
export function formatDay(text: string): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  const [, , month, year] = date.toUTCString().split(" ");
  return `${date.getUTCDate()} ${month} ${Number(year)}`;
}

export function factList(facts: readonly (readonly [name: string, value: string])[]): Html {
  return html`<dl class="facts">
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl>`;
}

/** Lines for a shell. One that is too long for its box goes on below, set in. */
export function commands(lines: readonly string[]): Html {
  return html`<pre class="commands">${lines.map((line) => html`<code>${line}</code>`)}</pre>`;
}
