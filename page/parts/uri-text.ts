import { toUnicode } from "punycode/punycode.es6.js";

/** A piece of a text: unchanged, or an invisible character. */
export interface Piece {
  readonly text: string;
  readonly isMark: boolean;
}

/** A URI in readable form: decoded where that is legible, with deceptive characters made visible. */
export interface UriText {
  readonly raw: readonly Piece[];
  /** Undefined if it is the same as the raw form. */
  readonly readable: readonly Piece[] | undefined;
  /** A label whose letters are of several scripts, such as Latin and Cyrillic. */
  readonly mixed: { readonly label: string; readonly scripts: readonly string[] } | undefined;
}

export function uriText(uri: string): UriText {
  const decoded = readableUri(uri);
  return {
    raw: pieces(uri),
    readable: decoded === uri ? undefined : pieces(decoded),
    mixed: mixedLabel(hostOf(decoded)),
  };
}

/** Controls, bidirectional marks, blanks other than the space, and stray joiners. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u00a0\u2000-\u200f\u202f\u205f\u3000\u115f\u1160\u3164]/gu;

/** Splits a text into pieces; invisible characters become `U+202E` and the like. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (index > at) found.push({ text: text.slice(at, index), isMark: false });
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    found.push({ text: `U+${code}`, isMark: true });
    at = index + character.length;
  }
  if (at < text.length) found.push({ text: text.slice(at), isMark: false });
  return found;
}

/** Decodes the host from Punycode, and percent-encodings that are text. Reserved characters stay. */
export function readableUri(uri: string): string {
  const host = hostOf(uri);
  const readableHost = host.split(".").map(readableLabel).join(".");
  return uri
    .replace(host, () => readableHost)
    .replaceAll(/(?:%[\da-f]{2})+/gi, (encoded) => {
      try {
        // Reserved characters and blanks stay encoded.
        return decodeURIComponent(encoded).replaceAll(/[\s!-/:-@[-^`{-~]/g, encodeByte);
      } catch {
        return encoded;
      }
    });
}

/** A label, decoded if it is Punycode. */
function readableLabel(label: string): string {
  try {
    return /^xn--/i.test(label) ? toUnicode(label.toLowerCase()) : label;
  } catch {
    return label;
  }
}

function encodeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

function hostOf(uri: string): string {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^/?#:]*)/i.exec(uri)?.[1] ?? "";
}

const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Hebrew", "Arabic", "Cherokee"].map(
  (name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const,
);

function mixedLabel(host: string): UriText["mixed"] {
  for (const label of host.split(".")) {
    const scripts = SCRIPTS.filter(([, letters]) => letters.test(label)).map(([name]) => name);
    if (scripts.length > 1) return { label, scripts };
  }
  return undefined;
}
