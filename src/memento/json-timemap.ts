import { CLOSE_BRACE, COLON, OPEN_BRACE, QUOTE } from "../bytes/ascii.ts";
import { skipBlanks, skipBlanksAndCommas } from "../bytes/blanks.ts";
import { stringEnd, unescapeJson, valueEnd } from "../bytes/json-members.ts";
import { isJsonObject } from "../ukvs/relaxed-json.ts";
import { FedReader } from "./fed-reader.ts";
import { MementoObject } from "./memento-object.ts";
import { takeMember } from "./timemap-member.ts";
import type { TimeMapLimits } from "./timemap-reading.ts";

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Where in the document the reader is. */
type Place = "before" | "root" | "mementos" | "list" | "index" | "behind" | "over";

/**
 * Reads a JSON TimeMap, as MemGator writes it and Time Travel did: `original_uri`, and
 * `mementos.list` of objects with `uri` and `datetime`; or `timemap_index`, which names pages.
 *
 * Other members are passed over. A document that follows is read as if it were part of the first. A list item that is no memento is a fault; what is no JSON ends the
 * reading with a fault. Needs no order of members; holds the mementos and one item.
 */
export class JsonTimeMapReader extends FedReader {
  readonly #memento = new MementoObject();
  #place: Place = "before";

  constructor(limits: TimeMapLimits = {}) {
    super(limits);
  }

  protected override scan(bytes: Uint8Array, end: number, isLast: boolean): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (this.#place !== "over") {
      at = skipBlanksAndCommas(bytes, at, end);
      if (this.#place === "behind") {
        if (at === end) return end;
        // Something else that follows is ignored, with all that comes after it.
        this.#place = bytes[at] === OPEN_BRACE ? "before" : "over";
        continue;
      }
      const behind = at === end ? -1 : this.#step(bytes, view, at, end);
      if (behind === -1) {
        if (!isLast) return at;
        this.#fail(bytes, at, end);
      } else {
        at = behind;
      }
    }
    return end;
  }

  /** Takes what is at `at`; returns the offset behind it, or -1 if it is not whole. */
  #step(bytes: Uint8Array, view: DataView, at: number, end: number): number {
    switch (this.#place) {
      case "before":
        if (bytes[at] !== OPEN_BRACE) return this.#fail(bytes, at, end);
        this.#place = "root";
        return at + 1;
      case "root":
      case "mementos":
        return this.#member(bytes, view, at, end);
      case "list":
      case "index":
        return this.#item(bytes, view, at, end);
      case "behind":
      case "over":
        return end;
    }
  }

  #member(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    if (bytes[start] === CLOSE_BRACE) {
      this.#place = this.#place === "mementos" ? "root" : "behind";
      return start + 1;
    }
    if (bytes[start] !== QUOTE) return this.#fail(bytes, start, end);
    const nameEnd = stringEnd(bytes, view, start + 1, end);
    if (nameEnd === -1) return -1;
    let at = skipBlanks(bytes, nameEnd + 1, end);
    if (at === end) return -1;
    this.feed.checkLength(at - start);
    if (bytes[at] !== COLON) return this.#fail(bytes, start, end);
    at = skipBlanks(bytes, at + 1, end);
    if (at === end) return -1;
    this.feed.checkLength(at - start);
    const name = unescapeJson(bytes, start + 1, nameEnd);
    const inner = this.#placeIn(name, bytes[at]);
    if (inner !== undefined) {
      this.#place = inner;
      return at + 1;
    }
    const behind = valueEnd(bytes, view, at, end);
    this.feed.checkLength(behind - start);
    if (behind !== -1 && this.#place === "root") {
      takeMember(this.draft, name, tryParseJson(bytes, at, behind));
    }
    return behind;
  }

  /** The place that the value of a member is, if the value is read piece by piece. */
  #placeIn(name: string, first: number): Place | undefined {
    if (this.#place === "mementos") {
      return name === "list" && first === OPEN_BRACKET ? "list" : undefined;
    }
    if (name === "mementos" && first === OPEN_BRACE) return "mementos";
    return name === "timemap_index" && first === OPEN_BRACKET ? "index" : undefined;
  }

  #item(bytes: Uint8Array, view: DataView, at: number, end: number): number {
    if (bytes[at] === CLOSE_BRACKET) {
      this.#place = this.#place === "list" ? "mementos" : "root";
      return at + 1;
    }
    const behind = valueEnd(bytes, view, at, end);
    this.feed.checkLength(behind - at);
    // A closing brace here would not end the list.
    if (behind === at) return this.#fail(bytes, at, end);
    if (behind === -1) return -1;
    if (this.#place === "index") {
      const item = tryParseJson(bytes, at, behind);
      takeMember(this.draft, "timemap_index", isJsonObject(item) ? [item] : item);
    } else if (this.#memento.read(bytes, at, behind) && this.#memento.datetime !== undefined) {
      const { uriBytes, uriStart, uriEnd, datetime } = this.#memento;
      this.draft.addMemento(uriBytes, uriStart, uriEnd, datetime);
    } else {
      this.draft.addFault(bytes, at, behind);
    }
    return behind;
  }

  /** Counts a fault that nothing behind can be read after. */
  #fail(bytes: Uint8Array, at: number, end: number): number {
    this.draft.addFault(bytes, at, end);
    this.#place = "over";
    return end;
  }
}

function tryParseJson(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes.subarray(start, end)));
  } catch {
    // A member that is no JSON says nothing; the walk finds out whether what follows can be read.
    return undefined;
  }
}
