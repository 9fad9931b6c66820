/** Groups of MIME types, as cdx-summary of the Internet Archive forms them. */
export const MIME_GROUPS = [
  "HTML",
  "Image",
  "CSS",
  "JavaScript",
  "JSON",
  "XML",
  "Text",
  "PDF",
  "Font",
  "Audio",
  "Video",
  "Revisit",
  "Other",
] as const;
export type MimeGroup = (typeof MIME_GROUPS)[number];

const NAMED: ReadonlyMap<string, MimeGroup> = new Map([
  ["html", "HTML"],
  ["image", "Image"],
  ["css", "CSS"],
  ["javascript", "JavaScript"],
  ["json", "JSON"],
  ["xml", "XML"],
  ["plain", "Text"],
  ["pdf", "PDF"],
  ["font", "Font"],
  ["audio", "Audio"],
  ["video", "Video"],
  ["revisit", "Revisit"],
]);

/** The group of a MIME type; parameters such as `; charset=utf-8` do not matter. */
export function mimeGroup(mime: string): MimeGroup {
  const [type = "", subtype = ""] = essence(mime).split("/", 2);
  const named = NAMED.get(subtype) ?? NAMED.get(type);
  if (named !== undefined) return named;
  if (subtype.startsWith("xhtml")) return "HTML";
  if (subtype.endsWith("+xml") || subtype.startsWith("xml-")) return "XML";
  return "Other";
}

/** The characters of a token of RFC 9110. */
const WELL_FORMED = /^[a-z0-9!#$%&'*+.^_`|~-]+\/[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** What indexes write where there is no MIME type, or it is not known. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(["", "-", "unk", "no-type"]);

/** Whether a value of the MIME column is neither a MIME type nor a sign that there is none. */
export function isMalformedMime(mime: string): boolean {
  return !PLACEHOLDERS.has(mime) && !WELL_FORMED.test(essence(mime));
}

function essence(mime: string): string {
  return (mime.split(";", 1)[0] ?? "").trim().toLowerCase();
}
