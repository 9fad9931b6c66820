import { isPacked } from "../bytes/bytes.ts";
import { tryParseFrequency } from "./frequency.ts";

/** The apparent kind of a body. */
export type Kind = "map" | "packed" | "compressed" | "html" | "empty" | "other";

const decoder = new TextDecoder();

/** Allows for a first line with a long key. */
const MAX_LINE_BYTES = 2 ** 17;

/**
 * Detects the kind of a body from its first bytes. Name and content type are unreliable: static servers send maps
 * with any
 * type, and error pages with status 200.
 */
export function sniff(start: Uint8Array): Kind {
  const [a, b, c, d] = start;
  if (a === 0x1f && b === 0x8b) return "compressed";
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return "compressed";
  if (isPacked(start)) return "packed";
  const text = decoder.decode(start.subarray(0, MAX_LINE_BYTES)).trimStart();
  if (text === "") return "empty";
  if (/^<(?:!doctype|html|\?xml|head|body|!--|[a-z])/i.test(text)) return "html";
  const [line = ""] = text.split("\n", 1);
  if (/^[!@][a-z][\w-]*\s+(?:\d+\s+)?[[{"\d]/i.test(line)) return "map";
  const [key = "", ...values] = line.trim().split(/\s+/);
  const isRecord = /[),]/.test(key) || key === "*";
  return isRecord && values.some((value) => tryParseFrequency(value) !== undefined)
    ? "map"
    : "other";
}

/** The name of a kind in messages. */
export function kindText(kind: Kind): string {
  const texts: Record<Kind, string> = {
    map: "a map",
    packed: "a packed map",
    compressed: "compressed data",
    html: "an HTML page, not a map",
    empty: "empty",
    other: "something other than a map",
  };
  return texts[kind];
}
