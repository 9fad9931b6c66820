import { hostToAscii } from "./idna.ts";
import { escapeOnce, unescapeFully } from "./percent-encoding.ts";

const REPLACEMENT_CHARACTER_UTF8 = "\u00ef\u00bf\u00bd";
const DECIMAL_ADDRESS = /^[1-9][0-9]*(?:\.[0-9]+){0,3}$/;
const OCTAL_ADDRESS = /^0[0-7]*(?:\.[0-7]+){0,3}$/;

/**
 * The canonical form of a host, still in its usual order: unescaped, IDNA, stray dots and a leading
 * `www`, `www2` removed, number forms of IPv4 written out. Empty when nothing is left of it.
 */
export function canonicalHost(rawHost: string): string {
  const host = trimDots(toAscii(unescapeFully(rawHost))).replaceAll("..", ".");
  const address = canonicalAddress(host);
  if (address !== undefined) return address;
  return escapeOnce(host)
    .toLowerCase()
    .replace(/^www\d*\./, "");
}

/** Labels in reverse, as a SURT has them. An IPv4 address is reversed too. */
export function reverseHost(host: string): string {
  return host.split(".").reverse().join(",");
}

function toAscii(bytes: string): string {
  // oxlint-disable-next-line no-control-regex -- the ASCII range
  if (/^[\u0000-\u007f]*$/.test(bytes)) return bytes;
  // IDNA forbids U+FFFD. Without it in the input, each one in the output marks bad UTF-8, which is
  // left out, as in every CDX file.
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

/** IPv4 in the forms that `inet_aton` reads, except hexadecimal; undefined for all else. */
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

/** Of a number of any length: tools that read such a host as one number keep its lowest bits. */
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
