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
