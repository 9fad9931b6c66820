import { escapeOnce, unescapeFully } from "./percent-encoding.ts";

const REPLACEMENT_CHARACTER_UTF8 = "\u00ef\u00bf\u00bd";
const DECIMAL_ADDRESS = /^[1-9][0-9]*(?:\.[0-9]+){0,3}$/;
const OCTAL_ADDRESS = /^0[0-7]*(?:\.[0-7]+){0,3}$/;

/**
 * The canonical form of a host, not yet reversed: unescaped, IDNA, without stray dots and leading `www`, `www2`, with
 * numeric IPv4 forms expanded. May be empty.
 */
export function canonicalHost(rawHost: string): string {
  const host = trimDots(toAscii(unescapeFully(rawHost))).replaceAll("..", ".");
  const address = canonicalAddress(host);
  if (address !== undefined) return address;
  return escapeOnce(host)
    .toLowerCase()
    .replace(/^www\d*\./, "");
}

/** Reverses the labels, as in a SURT; also those of an IPv4 address. */
export function reverseHost(host: string): string {
  return host.split(".").reverse().join(",");
}

function toAscii(bytes: string): string {
  if (isAscii(bytes)) return bytes;
  // IDNA forbids U+FFFD. If the input has none, each one in the output marks invalid UTF-8, which is
  // removed, as in every CDX file.
  if (bytes.includes(REPLACEMENT_CHARACTER_UTF8)) return bytes;
  const text = new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
    .replaceAll("\ufffd", "");
  return hostToAscii(text) ?? bytes;
}

function trimDots(host: string): string {
  let start = 0;
  let end = host.length;
  while (start < end && host[start] === ".") start++;
  while (end > start && host[end - 1] === ".") end--;
  return host.slice(start, end);
}

/** Parses the IPv4 forms of `inet_aton`, except hexadecimal; undefined for anything else. */
function canonicalAddress(host: string): string | undefined {
  if (/^[0-9]+$/.test(host)) return dotted(lowest32Bits(host));
  if (!DECIMAL_ADDRESS.test(host) && !OCTAL_ADDRESS.test(host)) return undefined;
  const parts = host.split(".");
  let value = 0;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const number = part.startsWith("0") ? octal(part) : Number(part);
    const limit = isLast ? 256 ** (4 - index) : 256;
    if (!(number < limit)) return undefined;
    value += isLast ? number : number * 256 ** (3 - index);
  }
  return dotted(value);
}

/** The lowest 32 bits of a number of any length, as in tools that read such a host as one number. */
function lowest32Bits(digits: string): number {
  let value = 0;
  for (let i = 0; i < digits.length; i++) {
    value = (value * 10 + digits.charCodeAt(i) - 0x30) % 2 ** 32;
  }
  return value;
}

function octal(text: string): number {
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : NaN;
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
}

// Internationalized host names as in CDX files: IDNA 2003 (RFC 3490 with nameprep,
// RFC 3491), where `ß` is `ss`. The URL class follows UTS 46 and would give different keys. Nameprep is frozen at
// Unicode 3.2; later characters are
// folded and normalized by the platform's Unicode version, which only affects their compatibility forms.

const MAX_LABEL = 63;
const LABEL_SEPARATOR = /[.\u3002\uff0e\uff61]/;

/** RFC 3454 table B.1: characters mapped to nothing. */
const MAPPED_TO_NOTHING =
  // oxlint-disable-next-line no-misleading-character-class -- the table itself
  /[\u00ad\u034f\u1806\u180b-\u180d\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]/gu;

/** RFC 3454 tables C.1.2 to C.9. */
const PROHIBITED =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- the tables
  /[\u0080-\u00a0\u0340\u0341\u06dd\u070f\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2063\u206a-\u206f\u2ff0-\u2ffb\u3000\ufeff\ufff9-\ufffd\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}]/u;

/** RFC 3454 table D.1: characters written from right to left. */
const RIGHT_TO_LEFT =
  /[\u05be\u05c0\u05c3\u05d0-\u05ea\u05f0-\u05f4\u061b\u061f\u0621-\u063a\u0640-\u064a\u066d-\u066f\u0671-\u06d5\u06dd\u06e5\u06e6\u06fa-\u06fe\u0700-\u070d\u0710\u0712-\u072c\u0780-\u07a5\u07b1\u200f\ufb1d\ufb1f-\ufb28\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufbb1\ufbd3-\ufd3d\ufd50-\ufd8f\ufd92-\ufdc7\ufdf0-\ufdfc\ufe70-\ufe74\ufe76-\ufefc]/u;

/** Near RFC 3454 table D.2: characters written from left to right. */
const LEFT_TO_RIGHT = /[\p{L}\p{Mc}\p{Nl}]/u;

/**
 * The ASCII form of a host name, or undefined if IDNA forbids a label because it is empty, too long, mixes writing
 * directions, or has a prohibited character.
 */
function hostToAscii(host: string): string | undefined {
  if (host === "") return "";
  const labels = host.split(LABEL_SEPARATOR);
  const isRooted = labels.length > 1 && labels[labels.length - 1] === "";
  if (isRooted) labels.pop();
  const encoded: string[] = [];
  for (const label of labels) {
    const ascii = labelToAscii(label);
    if (ascii === undefined) return undefined;
    encoded.push(ascii);
  }
  return encoded.join(".") + (isRooted ? "." : "");
}

function labelToAscii(label: string): string | undefined {
  const prepared = isAscii(label) ? label : nameprep(label);
  if (prepared === undefined) return undefined;
  if (isAscii(prepared)) return fits(prepared) ? prepared : undefined;
  // Punycode has at least one letter or digit per character, so longer labels can be rejected unencoded.
  if (prepared.startsWith("xn--") || prepared.length > 2 * MAX_LABEL) return undefined;
  const ascii = `xn--${encodePunycode(prepared)}`;
  return fits(ascii) ? ascii : undefined;
}

function nameprep(label: string): string | undefined {
  let mapped = "";
  for (const character of label.replace(MAPPED_TO_NOTHING, "")) mapped += foldCase(character);
  const prepared = mapped.normalize("NFKC");
  if (PROHIBITED.test(prepared)) return undefined;
  if (RIGHT_TO_LEFT.test(prepared) && !isRightToLeftOnly(prepared)) return undefined;
  return prepared;
}

function isRightToLeftOnly(label: string): boolean {
  const characters = Array.from(label);
  const isEnclosed = [characters[0], characters[characters.length - 1]].every((each) =>
    RIGHT_TO_LEFT.test(each),
  );
  if (!isEnclosed) return false;
  return characters.every((each) => RIGHT_TO_LEFT.test(each) || !LEFT_TO_RIGHT.test(each));
}

/** RFC 3454 table B.2: case folding that survives NFKC. */
function foldCase(character: string): string {
  const folded = fold(character);
  const normalized = folded.normalize("NFKC");
  const foldedAgain = Array.from(normalized, fold).join("").normalize("NFKC");
  return normalized === foldedAgain ? folded : foldedAgain;
}

function fold(character: string): string {
  // Dotless i: its capital is that of another letter.
  if (character === "\u0131") return character;
  return character.toLowerCase().toUpperCase().toLowerCase();
}

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the ASCII range
  return /^[\u0000-\u007f]*$/.test(text);
}

function fits(label: string): boolean {
  return label.length > 0 && label.length <= MAX_LABEL;
}

// RFC 3492, with its parameters for IDNA.
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 0x80;

/** Punycode without the `xn--`. Quadratic time: for labels, not for long texts. */
function encodePunycode(text: string): string {
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const basic = codePoints.filter((codePoint) => codePoint < INITIAL_N);
  let output = String.fromCharCode(...basic);
  if (basic.length > 0) output += "-";

  let n = INITIAL_N;
  let delta = 0;
  let bias = INITIAL_BIAS;
  let handled = basic.length;
  while (handled < codePoints.length) {
    let next = Infinity;
    for (const codePoint of codePoints) {
      if (codePoint >= n && codePoint < next) next = codePoint;
    }
    delta += (next - n) * (handled + 1);
    n = next;
    for (const codePoint of codePoints) {
      if (codePoint < n) delta++;
      if (codePoint !== n) continue;
      output += variableLengthInteger(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return output;
}

function variableLengthInteger(delta: number, bias: number): string {
  let digits = "";
  let q = delta;
  for (let k = BASE; ; k += BASE) {
    const t = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (q < t) return digits + digit(q);
    digits += digit(t + ((q - t) % (BASE - t)));
    q = Math.floor((q - t) / (BASE - t));
  }
}

/** 0–25 are letters, 26–35 are digits. */
function digit(value: number): string {
  return String.fromCharCode(value < 26 ? value + 0x61 : value - 26 + 0x30);
}

function adapt(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / points);
  let k = 0;
  while (rest > ((BASE - T_MIN) * T_MAX) / 2) {
    rest = Math.floor(rest / (BASE - T_MIN));
    k += BASE;
  }
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
