import { type KernelExports, startKernel } from "../../files/package-file.ts";
import { isPlainText, LF } from "../../bytes/bytes.ts";
import { type Ribbon, type RibbonEntries, ribbonWords } from "../../packed/ribbon.ts";
import { rejectOrder } from "../compact/key-tree.ts";
import type { LinesPlace, MapLines, MapRow, RowSink } from "../compact/map-lines.ts";
import { HostProfiles } from "./host-profiles.ts";
import { NAME_WORDS, type NameLog } from "./name-log.ts";
import { type RowKinds, rowName } from "./row-name.ts";

/** What kernel/pack.ts exports. */
interface PackExports extends KernelExports {
  open(bytes: number, partitionBits: number, queries: number, keepsVoids: number): number;
  take(from: number, length: number): number;
  keyRoom(): number;
  maxKeyBytes(): number;
  takeKey(length: number, captures: number): number;
  lastKey(): number;
  lastKeyLength(): number;
  finish(): void;
  rows(): number;
  rowNames(): number;
  voids(): number;
  hasVoids(): number;
  hasWildcards(): number;
  hasOlderKeys(): number;
  hostWildcards(): number;
  hostSpreads(): number;
  depths(): number;
  openRibbon(names: number): void;
  ribbonLow(): number;
  ribbonHigh(): number;
  ribbonValues(): number;
  buildRibbon(names: number, bits: number): number;
  askRibbon(names: number, slots: number, bits: number): number;
  ribbonSeed(): number;
  ribbonWords(): number;
}

interface PackImports {
  takeNames(list: number, pointer: number, count: number): void;
  takeHosts(pointer: number, count: number, isOpaque: number): void;
}

function notForThisWork(): void {
  // The kernel never calls it.
}

function startPackKernel(imports: Partial<PackImports>): PackExports | undefined {
  return startKernel("pack", {
    takeNames: notForThisWork,
    takeHosts: notForThisWork,
    ...imports,
  }) as PackExports | undefined; // what kernel/pack.ts exports
}

/** Words of a profile, and of the parts of one; kernel/packing/hosts.ts. */
const PROFILE_WORDS = 8;

/** A key that is too long for the kernel. */
export class KeyTooLong extends Error {}

/** Scans the rows of a map in WebAssembly, as a `NameScan` does. Rows that are not plain take the TypeScript. */
export class ScanKernel implements RowSink {
  readonly profiles: HostProfiles;
  readonly #exports: PackExports;
  readonly #kinds: RowKinds;
  readonly #block: number;
  readonly #blockBytes: number;

  private constructor(
    exports: PackExports,
    profiles: HostProfiles,
    kinds: RowKinds,
    block: number,
    blockBytes: number,
  ) {
    this.#exports = exports;
    this.profiles = profiles;
    this.#kinds = kinds;
    this.#block = block;
    this.#blockBytes = blockBytes;
  }

  /** Undefined where there is no kernel. */
  static open(
    kinds: RowKinds,
    log: NameLog | undefined,
    partitionBits: number | undefined,
    blockBytes: number,
  ): ScanKernel | undefined {
    const profiles = new HostProfiles();
    const exports = startPackKernel({
      takeNames(list, pointer, count) {
        if (exports === undefined || log === undefined) return;
        log.add(list, new Uint32Array(exports.memory.buffer, pointer, NAME_WORDS * count));
      },
      takeHosts(pointer, count, isOpaque) {
        if (exports === undefined) return;
        takeHosts(isOpaque === 0 ? profiles : profiles.opaque, exports, pointer, count);
      },
    });
    if (exports === undefined) return undefined;
    const { queries, keepsVoids } = kinds;
    const block = exports.open(
      blockBytes,
      partitionBits ?? -1,
      Number(queries),
      Number(keepsVoids),
    );
    return new ScanKernel(exports, profiles, kinds, block, blockBytes);
  }

  /** Where lines go. */
  get block(): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, this.#block, this.#blockBytes);
  }

  /**
   * Takes the first bytes of the block, which must be whole lines.
   *
   * @param lines takes the rows that are not plain, and gives them to {@link add}.
   */
  takeBlock(length: number, lines: MapLines, place: LinesPlace): void {
    const { block } = this;
    for (let at = 0; ;) {
      const before = this.#exports.rows();
      at = this.#exports.take(at, length);
      lines.skip(this.#exports.rows() - before);
      if (at === length) return;
      const feed = block.indexOf(LF, at);
      const end = feed === -1 || feed >= length ? length : feed + 1;
      lines.read(block.subarray(at, end), place);
      at = end;
    }
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd } = row;
    const name = rowName(row, { ...this.#kinds, keepsVoids: true });
    if (name === undefined && keyEnd - start === 1) return;
    const length = keyEnd - start;
    this.profiles.hasOlderKeys ||= !isPlainText(bytes, start, keyEnd);
    if (length >= this.#exports.maxKeyBytes() || bytes.subarray(start, keyEnd).includes(1)) {
      throw new KeyTooLong();
    }
    const key = bytes.subarray(start, keyEnd);
    new Uint8Array(this.#exports.memory.buffer, this.#exports.keyRoom(), length).set(key);
    if (this.#exports.takeKey(length, name?.captures ?? 0) !== 0) return;
    const last = new Uint8Array(
      this.#exports.memory.buffer,
      this.#exports.lastKey(),
      this.#exports.lastKeyLength(),
    );
    const isSame = last.length === length && last.every((byte, i) => byte === key[i]);
    rejectOrder(isSame ? 0 : -1, key, new TextDecoder().decode(last));
  }

  finish(): HostProfiles {
    const { profiles } = this;
    this.#exports.finish();
    profiles.rowCount = this.#exports.rowNames();
    profiles.voidCount = this.#exports.voids();
    profiles.hasVoids = this.#exports.hasVoids() !== 0;
    profiles.hasWildcards = this.#exports.hasWildcards() !== 0;
    profiles.hasOlderKeys ||= this.#exports.hasOlderKeys() !== 0;
    profiles.hostWildcards = this.#exports.hostWildcards();
    profiles.hostSpreads = this.#exports.hostSpreads();
    const { buffer } = this.#exports.memory;
    profiles.depths.set(new Uint32Array(buffer, this.#exports.depths(), profiles.depths.length));
    return profiles;
  }
}

function takeHosts(
  hosts: HostProfiles["opaque"],
  { memory }: PackExports,
  pointer: number,
  count: number,
): void {
  const words = new Uint32Array(memory.buffer, pointer, PROFILE_WORDS * count);
  const numbers = new Float64Array(memory.buffer, pointer, (PROFILE_WORDS / 2) * count);
  for (let i = 0; i < count; i++) {
    const at = PROFILE_WORDS * i;
    const host = hosts.push(words[at], words[at + 1]);
    hosts.masks[host] = words[at + 2];
    hosts.flags[host] = words[at + 3];
    hosts.rows[host] = words[at + 4];
    hosts.captures[host] = numbers[at / 2 + 3];
  }
}

/** Solves ribbons in WebAssembly, as `buildRibbon` does, and asks each for all of its names. */
export class RibbonKernel {
  readonly #exports: PackExports;

  private constructor(exports: PackExports) {
    this.#exports = exports;
  }

  /** Undefined where there is no kernel. */
  static open(): RibbonKernel | undefined {
    const exports = startPackKernel({});
    return exports === undefined ? undefined : new RibbonKernel(exports);
  }

  /** Undefined where two names contradict each other. */
  build({ count, low, high, values }: RibbonEntries, bits: number): Ribbon | undefined {
    const exports = this.#exports;
    exports.openRibbon(count);
    const { buffer } = exports.memory;
    new Uint32Array(buffer, exports.ribbonLow(), count).set(low);
    new Uint32Array(buffer, exports.ribbonHigh(), count).set(high);
    new Uint32Array(buffer, exports.ribbonValues(), count).set(values);
    const slots = exports.buildRibbon(count, bits);
    if (slots === 0) return undefined;
    if (exports.askRibbon(count, slots, bits) !== count) {
      throw new Error("a held name is not found in its shard");
    }
    const length = ribbonWords(slots, bits);
    const words = new Uint32Array(exports.memory.buffer, exports.ribbonWords(), length).slice();
    return { seed: exports.ribbonSeed(), slots, words };
  }
}
