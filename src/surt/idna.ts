import { encodePunycode } from "./punycode.ts";

// Internationalised host names as CDX files have them: IDNA 2003 (RFC 3490 with nameprep,
// RFC 3491), where `ß` is `ss`. The URL class of today's platforms follows UTS 46 and would give
// other keys. Nameprep is frozen at Unicode 3.2. Characters that came later are folded and
// normalised here by the platform's Unicode: only their compatibility forms come out otherwise.

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
 * The ASCII form of a host name, or undefined where IDNA forbids a label: one that is empty, too
 * long, mixes writing directions, or has a prohibited character.
 */
export function hostToAscii(host: string): string | undefined {
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
  // A label has at least one digit or letter of output for each character, so that longer ones
  // need no encoding to be refused.
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
  // The one letter whose capital belongs to another letter.
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
