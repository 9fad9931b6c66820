/** A piece of a text: as it is, or a character that would not be seen. */
export interface Piece {
  readonly text: string;
  readonly isMark: boolean;
}

/** A URI for people: decoded where that can be read, with what deceives made visible. */
export interface UriText {
  readonly raw: readonly Piece[];
  /** Undefined where it says no more than the raw form. */
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

/** Controls, marks of direction, and blanks other than the space; also what joins to nothing. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u00a0\u2000-\u200f\u202f\u205f\u3000\u115f\u1160\u3164]/gu;

/** Splits a text so that characters nobody would see stand apart as `U+202E`. */
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
  const readableHost = host
    .split(".")
    .map((label) => (/^xn--/i.test(label) ? (punycode(label.slice(4)) ?? label) : label))
    .join(".");
  return uri
    .replace(host, () => readableHost)
    .replaceAll(/(?:%[\da-f]{2})+/gi, (encoded) => {
      try {
        // What would change the meaning of the URI stays encoded, and so does the blank.
        return decodeURIComponent(encoded).replaceAll(/[\s!-/:-@[-^`{-~]/g, encodeByte);
      } catch {
        return encoded;
      }
    });
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

/** Decodes a label (RFC 3492); undefined for what is not Punycode. */
function punycode(text: string): string | undefined {
  const split = text.lastIndexOf("-");
  const output = Array.from(split > 0 ? text.slice(0, split) : "", (each) => each.charCodeAt(0));
  let [code, at, bias] = [128, 0, 72];
  let index = split > 0 ? split + 1 : 0;
  while (index < text.length) {
    const before = at;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = Number.parseInt(text[index++] ?? "", 36);
      if (Number.isNaN(digit)) return undefined;
      // Letters are 0 to 25, digits 26 to 35; `parseInt` has it the other way round.
      const value = digit < 10 ? digit + 26 : digit - 10;
      at += value * weight;
      const least = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
      if (value < least) break;
      weight *= 36 - least;
      if (weight > 2 ** 40) return undefined;
    }
    const length = output.length + 1;
    bias = adapted(at - before, length, before === 0);
    code += Math.floor(at / length);
    at %= length;
    if (code > 0x10ffff) return undefined;
    output.splice(at++, 0, code);
  }
  return String.fromCodePoint(...output);
}

function adapted(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2));
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}
