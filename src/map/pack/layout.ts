import type { HostProfiles } from "./host-profiles.ts";
import { type Descriptor, FLAG } from "../../packed/packed-file.ts";
import type { PackedLayout } from "./packing.ts";
import { chanceOfNewDepth, type Probes } from "./probes.ts";
import { HostNeeds, mistaken } from "./row-widths.ts";

/** Flags that say something by themselves, and so may not be added to a host that lacks them. */
const CERTAIN = FLAG.all | FLAG.none;
const MAX_BITS = 12;
/** Bits of a host in the table, at most. */
const VALUE_BITS = 32;
/** Bits that one more descriptor takes in the file. */
const DESCRIPTOR_COST = 64;
/**
 * Bits that rows of many pages have more than others: each answers ten times as many lookups, which go wrong
 * together.
 */
const WIDE_BITS = 4;
/** Slots of the table for each host. */
const TABLE_SLACK = 1.05;

/** What a layout is chosen by, in expected lookups. */
export interface Demand {
  /** Lookups of each host, by its number. */
  readonly lookups: Float64Array;
  /** Lookups of hosts that are not held. */
  readonly elsewhere: number;
  /** Which names lookups ask for. */
  readonly probes: Probes;
  /** The lookups that bits are chosen by, where hosts differ in them. */
  readonly widthLookups: Float64Array | undefined;
}

/** What a descriptor says. */
interface DescribedRows {
  readonly masks: number;
  readonly flags: number;
  /** Bits of a row, in eighths. */
  readonly width: number;
}

/** What hosts with the same rows have in common. */
interface Kind extends DescribedRows {
  hosts: number;
  lookups: number;
  /** Lookups of depths that the hosts have no rows of. */
  strays: number;
}

/**
 * Chooses how the table of hosts is written: which descriptors there are, which of them each host
 * has, and how many bits tell hosts from others.
 *
 * A host may have a descriptor with more rows than it has: it costs needless probes, each of which may
 * go wrong, and saves bits. Chooses the number of descriptors that costs least.
 *
 * Holds 12 bytes for each host.
 */
export class LayoutChooser {
  readonly #profiles: HostProfiles;
  readonly #demand: Demand;
  readonly #needs: HostNeeds | undefined;
  /** All combinations of rows that hosts have, and the number of the one that each host has. */
  readonly #rows: Omit<DescribedRows, "width">[] = [];
  readonly #rowsOf: Uint32Array;
  /** For each host, the chance that a lookup has a depth that it has no rows of. */
  readonly #strays: Float64Array;

  constructor(profiles: HostProfiles, demand: Demand) {
    const { count, rows } = profiles;
    const { widthLookups } = demand;
    this.#profiles = profiles;
    this.#demand = demand;
    this.#needs = widthLookups === undefined ? undefined : new HostNeeds(rows, widthLookups);
    const numbers = new Map<number, number>();
    this.#rowsOf = new Uint32Array(count);
    this.#strays = new Float64Array(count);
    for (let host = 0; host < count; host++) {
      const [masks, flags] = ownMasks(profiles, host);
      const name = (masks >>> 0) * 2 ** 8 + flags;
      let number = numbers.get(name);
      if (number === undefined) {
        number = this.#rows.push({ masks, flags }) - 1;
        numbers.set(name, number);
      }
      this.#rowsOf[host] = number;
      this.#strays[host] = chanceOfNewDepth(profiles, host);
    }
  }

  /**
   * @param width bits of a row, in eighths; on average, where hosts differ.
   * @param price the lookups that one bit of the file should answer rightly.
   * @param fingerprintBits chosen here where they are not given; fewer are taken where there is no room.
   */
  choose(
    width: number,
    price: number,
    { countBits, periods }: Pick<PackedLayout, "countBits" | "periods">,
    fingerprintBits: number = bestFingerprintBits(this.#profiles, width, price, this.#demand),
  ): PackedLayout {
    const { count } = this.#profiles;
    const [all, kindOf] = this.#kinds(width);
    const kinds = all.toSorted(
      (a, b) => b.hosts - a.hosts || a.masks - b.masks || a.flags - b.flags || a.width - b.width,
    );
    let best: Dictionary | undefined;
    for (let bits = 0; bits <= MAX_BITS; bits++) {
      const found = dictionary(kinds, bits, count, price, this.#demand, fingerprintBits);
      if (found !== undefined && (best === undefined || found.cost < best.cost)) best = found;
      if (2 ** bits >= kinds.length) break;
    }
    if (best === undefined) throw new Error("every host has a descriptor of its kind");
    const { chosen, places, bits: descriptorBits } = best;
    const otherBits = descriptorBits + countBits + (periods?.bits ?? 0);
    const placeOf = all.map((kind) => places.get(kind) ?? 0);
    return {
      width,
      fingerprintBits: Math.min(fingerprintBits, VALUE_BITS - otherBits),
      descriptorBits,
      countBits,
      periods,
      descriptors: chosen.map(descriptorOfKind),
      descriptorOf: Uint16Array.from(kindOf, (kind) => placeOf[kind]),
    };
  }

  /** The kinds of hosts, and the number of that of each host. */
  #kinds(width: number): [kinds: Kind[], kindOf: Uint32Array] {
    const { lookups } = this.#demand;
    const widths = this.#widths(width);
    const kinds: Kind[] = [];
    const numbers = new Map<number, number>();
    const kindOf = this.#rowsOf.map((rows, host) => {
      const own = widths?.[host] ?? width;
      let number = numbers.get(rows * 2 ** 8 + own);
      if (number === undefined) {
        const kind = { ...this.#rows[rows], width: own, hosts: 0, lookups: 0, strays: 0 };
        number = kinds.push(kind) - 1;
        numbers.set(rows * 2 ** 8 + own, number);
      }
      const kind = kinds[number];
      kind.hosts++;
      kind.lookups += lookups[host];
      kind.strays += lookups[host] * this.#strays[host];
      return number;
    });
    return [kinds, kindOf];
  }

  /** The bits of a row of each host, in eighths; undefined where they do not differ. */
  #widths(width: number): Uint8Array | undefined {
    if (this.#needs === undefined) return undefined;
    const { bits, offsets } = this.#needs.widths(width / 8);
    return Uint8Array.from(offsets(), (offset) =>
      Math.max(0, Math.min(255, Math.round(8 * bits) + 8 * offset)),
    );
  }
}

/** A layout without a table: every host has the rows of all, and hosts are told apart by rows alone. */
export function flatLayout(profiles: HostProfiles, width: number): PackedLayout {
  let [masks, flags] = [0, 0];
  for (let host = 0; host < profiles.count; host++) {
    masks |= profiles.masks[host];
    flags |= profiles.flags[host];
  }
  if ((flags & FLAG.home) !== 0) masks |= 1;
  if ((flags & FLAG.all) !== 0) masks |= 1 << 8;
  return {
    width,
    fingerprintBits: 0,
    descriptorBits: 0,
    countBits: 0,
    descriptors: [descriptorOfKind({ masks, flags: flags & ~(CERTAIN | FLAG.home), width })],
    descriptorOf: new Uint16Array(profiles.count),
  };
}

/** Where all of a host is held and no void says otherwise, its rows do not matter. */
function ownMasks({ masks, flags }: HostProfiles, host: number): [masks: number, flags: number] {
  const hasVoids = masks[host] >>> 16 !== 0;
  return (flags[host] & FLAG.all) !== 0 && !hasVoids ? [0, FLAG.all] : [masks[host], flags[host]];
}

function descriptorOfKind({ masks, flags, width }: DescribedRows): Descriptor {
  return {
    exact: masks & 0xff,
    wildcards: (masks >>> 8) & 0xff,
    voidExact: (masks >>> 16) & 0xff,
    voidWildcards: masks >>> 24,
    flags,
    width,
    wideWidth: width === 0 ? 0 : Math.min(255, width + 8 * WIDE_BITS),
  };
}

interface Dictionary {
  readonly bits: number;
  readonly chosen: readonly DescribedRows[];
  /** The number of the descriptor for each kind. */
  readonly places: ReadonlyMap<Kind, number>;
  readonly cost: number;
}

/** The most frequent kinds, and for all others some that cover them. */
function dictionary(
  kinds: readonly Kind[],
  bits: number,
  hosts: number,
  price: number,
  { probes, elsewhere }: Demand,
  fingerprintBits: number,
): Dictionary | undefined {
  const chosen = chosenKinds(kinds, 2 ** bits);
  if (chosen === undefined) return undefined;
  const places = new Map<Kind, number>();
  let cost = price * (hosts * bits * TABLE_SLACK + chosen.length * DESCRIPTOR_COST);
  // A host that is not held gets any number with the same chance; not all are descriptors.
  const perDescriptor = elsewhere * 2 ** -(fingerprintBits + bits);
  for (const one of chosen) cost += perDescriptor * chanceOfPresent(one, probes);
  kinds.forEach((kind, i) => {
    if (chosen[i] === kind) {
      places.set(kind, i);
      return;
    }
    let [place, least] = [-1, Number.POSITIVE_INFINITY];
    chosen.forEach((other, at) => {
      if (!covers(other, kind)) return;
      const homes = (kind.flags & ~other.flags & FLAG.home) === 0 ? 0 : kind.hosts;
      const inVain = kind.lookups * probes.inVain(kind, other, kind.strays / kind.lookups);
      const mistakes = kind.lookups === 0 ? 0 : inVain * mistaken(kind.width / 8, 1);
      const more = mistakes + homes * price * (kind.width / 8) * TABLE_SLACK;
      if (more < least) [place, least] = [at, more];
    });
    places.set(kind, place);
    cost += least;
  });
  return { bits, chosen, places, cost };
}

/** The chance that a lookup of a host that is not held finds something, if it has this descriptor. */
function chanceOfPresent(one: DescribedRows, probes: Probes): number {
  if ((one.flags & FLAG.all) !== 0) return 1;
  const home = (one.flags & FLAG.home) === 0 ? 0 : probes.homes;
  return Math.min(1, home + mistaken(one.width / 8, probes.ofAny(one)));
}

/** Kinds that cover all; undefined where there is not room for them. */
function chosenKinds(kinds: readonly Kind[], room: number): readonly DescribedRows[] | undefined {
  if (kinds.length <= room) return kinds;
  for (const certain of [CERTAIN | FLAG.home, CERTAIN]) {
    let [kept, others] = [room, unions(kinds, certain)];
    while (kept > 0 && kept + others.length > room) {
      kept = Math.max(0, room - others.length);
      others = unions(kinds.slice(kept), certain);
    }
    if (kept + others.length <= room) return [...kinds.slice(0, kept), ...others];
  }
  return undefined;
}

/** For each combination of certain flags, width and voids, a kind with the rows of all kinds that have it. */
function unions(kinds: readonly Kind[], certain: number): DescribedRows[] {
  const byFlags = new Map<string, { masks: number; flags: number; width: number }>();
  for (const { masks, flags, width } of kinds) {
    const own = `${flags & certain} ${width} ${voidsOf(masks)}`;
    const union = byFlags.get(own) ?? { masks: 0, flags: 0, width };
    byFlags.set(own, union);
    // A home page that is not certain is a row.
    union.masks |= masks | (flags & ~certain & FLAG.home);
    union.flags |= flags & (certain | ~FLAG.home);
  }
  return [...byFlags.values()];
}

function covers(wide: DescribedRows, kind: Kind): boolean {
  const homeRow = kind.flags & ~wide.flags & FLAG.home;
  return (
    wide.width === kind.width &&
    voidsOf(wide.masks) === voidsOf(kind.masks) &&
    ((kind.masks | homeRow) & ~wide.masks) === 0 &&
    (kind.flags & ~wide.flags & ~FLAG.home) === 0 &&
    (wide.flags & ~kind.flags & (CERTAIN | FLAG.home)) === 0
  );
}

/**
 * The depths of voids. A host never has those of others: each void that it asks for may hide what it holds,
 * and what is hidden must not depend on which other hosts there are.
 */
function voidsOf(masks: number): number {
  return masks >>> 16;
}

/** The bits at which one more saves fewer wrong answers than it costs. */
function bestFingerprintBits(
  profiles: HostProfiles,
  width: number,
  price: number,
  demand: Demand,
): number {
  const mistake = Math.min(1, 2 ** (1 - width / 8));
  let positive = 0;
  for (let host = 0; host < profiles.count; host++) {
    const { [host]: flags } = profiles.flags;
    const home = (flags & FLAG.home) === 0 ? 0 : demand.probes.homes;
    positive += (flags & FLAG.all) === 0 ? Math.max(mistake, home) : 1;
  }
  const wrong = (demand.elsewhere * positive) / profiles.count;
  const perBit = price * profiles.count * TABLE_SLACK;
  // The wrong answers that remain, wrong · 2^-f, fall by half with each bit.
  let bits = 1;
  while (bits < 16 && wrong * 2 ** -bits - wrong * 2 ** -(bits + 1) > perBit) bits++;
  return bits;
}
