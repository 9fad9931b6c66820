import { JsonMembers, unescapeJson } from "../bytes/json-members.ts";
import { BACKSLASH } from "../bytes/ascii.ts";
import { tryReadDatetime } from "./datetime-bytes.ts";

const ENCODER = new TextEncoder();
const URI = ENCODER.encode("uri");
const DATETIME = ENCODER.encode("datetime");
const URL_NAME = ENCODER.encode("url");
const TIMESTAMP = ENCODER.encode("timestamp");

/** Reads the JSON object of a memento, or of a capture, without making strings where it can. */
export class MementoObject {
  /** What its URI is a part of. */
  uriBytes: Uint8Array = new Uint8Array(0);
  uriStart = 0;
  uriEnd = 0;
  /** Whether the URI is the original's (`url`), and not that of the memento (`uri`). */
  isCapture = false;
  /** From `datetime` or `timestamp`. */
  datetime: number | undefined;
  readonly #members = new JsonMembers();

  /** Reads the object at `bytes[start, end)`; false if it names no URI. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    this.datetime = undefined;
    this.isCapture = false;
    let hasUri = false;
    const members = this.#members;
    if (!members.open(bytes, start, end)) return false;
    let step = members.next();
    for (; step === 1; step = members.next()) {
      const { valueStart, valueEnd } = members;
      if (members.isNamed(URI)) {
        hasUri = this.#takeUri(bytes, valueStart, valueEnd, members.isString);
        this.isCapture = false;
      } else if (members.isNamed(DATETIME) || members.isNamed(TIMESTAMP)) {
        this.datetime ??= tryReadDatetime(bytes, valueStart, valueEnd);
      } else if (!hasUri && members.isNamed(URL_NAME)) {
        hasUri = this.#takeUri(bytes, valueStart, valueEnd, members.isString);
        this.isCapture = true;
      }
    }
    return step === -1 && !hasUri ? this.#readLoosely(bytes, start, end) : hasUri;
  }

  #takeUri(bytes: Uint8Array, start: number, end: number, isString: boolean): boolean {
    if (!isString) return false;
    let at = start;
    while (at < end && bytes[at] !== BACKSLASH) at++;
    if (at === end) {
      this.uriBytes = bytes;
      this.uriStart = start;
      this.uriEnd = end;
    } else {
      this.#useText(unescapeJson(bytes, start, end));
    }
    return end > start;
  }

  /** ipwb writes `"datetime"="…"`, which is no JSON. */
  #readLoosely(bytes: Uint8Array, start: number, end: number): boolean {
    const text = new TextDecoder().decode(bytes.subarray(start, end));
    const uri = /"uri"\s*[:=]\s*"([^"\\]+)"/.exec(text)?.[1];
    if (uri === undefined) return false;
    this.isCapture = false;
    this.#useText(uri);
    return true;
  }

  #useText(text: string): void {
    this.uriBytes = ENCODER.encode(text);
    this.uriStart = 0;
    this.uriEnd = this.uriBytes.length;
  }
}
