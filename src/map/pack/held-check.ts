import { closeSync, openSync } from "node:fs";
import { joinBytes, LF, STAR } from "../../bytes/bytes.ts";
import { parseHead } from "../../packed/packed-file.ts";
import { OUTCOME, PackedNames } from "../../packed/packed-map.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import type { Fields } from "../../ukvs/header.ts";
import { KEY_KIND, keyShape } from "../compact/key-tree.ts";
import { MapLines, type MapRow, type RowSink } from "../compact/map-lines.ts";
import { BLOCK_BYTES, readBlocks, tooLong } from "../compact/run/line-blocks.ts";
import { type PackedExports, startPartKernel } from "../lookup/packed-exports.ts";
import type { MapPart } from "./scan-part.ts";

/** What a packed map does not say of a part of its map. */
export interface AskResult {
  /** Keys that a void may hide. */
  readonly hidden: readonly Uint8Array[];
  /** Keys that are not found. */
  readonly lost: number;
}

/** A kernel holds the packed map once more; a larger one is asked where it is. */
const MAX_KERNEL_BYTES = 2 ** 30;

/** Asks a packed map for all that a map holds, part by part: in WebAssembly, unless it has voids. */
export class PackedAsker {
  readonly #names: PackedNames;
  readonly #exports: PackedExports | undefined;
  readonly #block: Uint8Array;

  /** @param file a packed map, or a delta by itself; all of it is checked. */
  constructor(file: Uint8Array, source: string, usesKernel: boolean = true) {
    const head = parseHead(file, file.length, source);
    const room = { inputBytes: BLOCK_BYTES, outputBytes: 0 };
    const mayUseKernel = usesKernel && head.header.voids === 0 && file.length <= MAX_KERNEL_BYTES;
    const kernel = mayUseKernel ? startPartKernel(file, head, room) : undefined;
    this.#names = PackedNames.within(kernel?.bytes ?? file, head, source);
    this.#exports = kernel?.exports;
    this.#block =
      kernel === undefined
        ? new Uint8Array(BLOCK_BYTES)
        : new Uint8Array(kernel.exports.memory.buffer, kernel.exports.inputPointer(), BLOCK_BYTES);
  }

  /** Reads a part once. */
  ask(part: MapPart, fields: Fields): AskResult {
    const check = new HeldCheck(this.#names);
    const lines = new MapLines(check, fields);
    const file = openSync(part.path, "r");
    try {
      readBlocks(file, part, this.#block, (length, isWhole) => {
        if (!isWhole) throw tooLong(part.source, lines.lines + 1);
        this.#askBlock(length, lines, check, part, fields);
        return true;
      });
    } finally {
      closeSync(file);
    }
    return { hidden: check.hidden, lost: check.lost };
  }

  /** The kernel stops at rows that are not plain. */
  #askBlock(
    length: number,
    lines: MapLines,
    check: HeldCheck,
    { source }: MapPart,
    fields: Fields,
  ): void {
    const block = this.#block;
    const isPlain = fields.keys.length === 1 && fields.values.length === 1;
    const exports = isPlain ? this.#exports : undefined;
    for (let at = 0; at < length;) {
      if (exports !== undefined) {
        at = exports.askRows(at, length);
        check.lost += exports.absent();
        if (at === length) return;
      }
      const feed = exports === undefined ? -1 : block.indexOf(LF, at);
      const end = feed === -1 || feed >= length ? length : feed + 1;
      lines.read(block.subarray(at, end), { source, firstLine: 1 });
      at = end;
    }
  }
}

/** Asks for rows, one at a time. */
class HeldCheck implements RowSink {
  readonly hidden: Uint8Array[] = [];
  lost = 0;
  readonly #names: PackedNames;
  readonly #asksVoids: boolean;

  constructor(names: PackedNames) {
    this.#names = names;
    this.#asksVoids = names.head.header.voids > 0;
  }

  add({ bytes, start, keyEnd, frequencyStart, frequencyEnd }: MapRow): void {
    if (frequencyIsZero(bytes, frequencyStart, frequencyEnd)) return;
    if (keyEnd - start === 1 && bytes[start] === STAR) return;
    const asked = pageWithin(bytes.subarray(start, keyEnd));
    const { length } = asked;
    if (this.#asksVoids && this.#names.hitsVoid(asked, 0, length)) {
      this.hidden.push(bytes.slice(start, keyEnd));
    }
    if (this.#names.find(asked, 0, length) !== OUTCOME.present) this.lost++;
  }
}

/** A page that a key covers: for a wildcard, one of a name that no other key has. */
function pageWithin(key: Uint8Array): Uint8Array {
  const { kind, hostEnd } = keyShape(key, key.length);
  if (kind === KEY_KIND.hostWildcard) return joinBytes([key.subarray(0, -1), UNNAMED_HOST]);
  if (kind === KEY_KIND.spread) {
    return joinBytes([key.subarray(0, hostEnd - 1), UNNAMED, key.subarray(hostEnd)]);
  }
  return key;
}

const UNNAMED: Uint8Array = new TextEncoder().encode("%2a");
const UNNAMED_HOST: Uint8Array = new TextEncoder().encode("%2a)/%2a");
