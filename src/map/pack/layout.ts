import type { HostProfiles } from "./host-profiles.ts";
import { type Descriptor, FLAG } from "../../packed/packed-file.ts";
import type { PackedLayout } from "./packing.ts";

/** Flags that say something by themselves, and so may not be added to a host that lacks them. */
const CERTAIN = FLAG.home | FLAG.all | FLAG.none;
const MIN_BITS = 3;
const MAX_BITS = 12;
/** Bits that one more descriptor takes in the file. */
const DESCRIPTOR_COST = 64;
/** Slots of the table for each host. */
const TABLE_SLACK = 1.05;

/** What a layout is chosen by, in expected lookups. */
export interface Demand {
  /** Lookups of each host, by its number. */
  readonly lookups: Float64Array;
  /** Lookups of hosts that are not held. */
  readonly elsewhere: number;
  /** The lookups that one bit of the file should answer rightly. */
  readonly price: number;
}

/** What hosts with the same rows have in common. */
interface Kind {
  readonly masks: number;
  readonly flags: number;
  hosts: number;
  lookups: number;
}

/**
 * Chooses how the table of hosts is written: which descriptors there are, which of them each host
 * has, and how many bits tell hosts from others.
 *
 * A host may have a descriptor with more rows than it has: it costs needless probes, each of which may
 * go wrong, and saves bits. Chooses the number of descriptors that costs least.
 *
 * @param width bits of a row, in eighths.
 */
export function chooseLayout(
  profiles: HostProfiles,
  width: number,
  countBits: number,
  demand: Demand,
): PackedLayout {
  const kinds = new Map<string, Kind>();
  const kindOf: Kind[] = [];
  for (let host = 0; host < profiles.count; host++) {
    const [masks, flags] = ownMasks(profiles, host);
    const name = `${masks} ${flags}`;
    const kind = kinds.get(name) ?? { masks, flags, hosts: 0, lookups: 0 };
    kinds.set(name, kind);
    kind.hosts++;
    kind.lookups += demand.lookups[host];
    kindOf.push(kind);
  }
  const all = [...kinds.values()].sort(
    (a, b) => b.hosts - a.hosts || a.masks - b.masks || a.flags - b.flags,
  );
  let best: Dictionary | undefined;
  for (let bits = MIN_BITS; bits <= MAX_BITS; bits++) {
    const found = dictionary(all, bits, width, profiles.count, demand);
    if (found !== undefined && (best === undefined || found.cost < best.cost)) best = found;
    if (2 ** bits >= all.length) break;
  }
  if (best === undefined) throw new Error("every host has a descriptor of its kind");
  const { chosen, places, bits: descriptorBits } = best;
  const descriptorOf = Uint16Array.from(kindOf, (kind) => places.get(kind) ?? 0);
  return {
    width,
    fingerprintBits: fingerprintBits(profiles, width, demand),
    descriptorBits,
    countBits,
    descriptors: chosen.map((kind) => descriptorOfKind(kind, width)),
    descriptorOf,
  };
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
    descriptors: [descriptorOfKind({ masks, flags: flags & ~CERTAIN }, width)],
    descriptorOf: new Uint16Array(profiles.count),
  };
}

/** Where all of a host is held and no void says otherwise, its rows do not matter. */
function ownMasks({ masks, flags }: HostProfiles, host: number): [masks: number, flags: number] {
  const hasVoids = masks[host] >>> 16 !== 0;
  return (flags[host] & FLAG.all) !== 0 && !hasVoids ? [0, FLAG.all] : [masks[host], flags[host]];
}

function descriptorOfKind(
  { masks, flags }: Pick<Kind, "masks" | "flags">,
  width: number,
): Descriptor {
  return {
    exact: masks & 0xff,
    wildcards: (masks >>> 8) & 0xff,
    voidExact: (masks >>> 16) & 0xff,
    voidWildcards: masks >>> 24,
    flags,
    width,
  };
}

interface Dictionary {
  readonly bits: number;
  readonly chosen: readonly Pick<Kind, "masks" | "flags">[];
  /** The number of the descriptor for each kind. */
  readonly places: ReadonlyMap<Kind, number>;
  readonly cost: number;
}

/** The most frequent kinds, and one kind for all others of the same certain flags. */
function dictionary(
  kinds: readonly Kind[],
  bits: number,
  width: number,
  hosts: number,
  { price }: Demand,
): Dictionary | undefined {
  const room = 2 ** bits;
  let kept = kinds.slice(0, room);
  let others: Pick<Kind, "masks" | "flags">[] = [];
  while (
    kept.length + others.length > room ||
    (others.length === 0 && kept.length < kinds.length)
  ) {
    if (others.length > 0) kept = kept.slice(0, room - others.length);
    others = unions(kinds.slice(kept.length));
    if (others.length > room) return undefined;
  }
  const chosen = [...kept, ...others];
  const places = new Map<Kind, number>();
  const mistake = 2 ** (-width / 8);
  let cost = price * (hosts * bits * TABLE_SLACK + chosen.length * DESCRIPTOR_COST);
  kinds.forEach((kind, i) => {
    if (i < kept.length) {
      places.set(kind, i);
      return;
    }
    let [place, extra] = [-1, Number.POSITIVE_INFINITY];
    chosen.forEach((other, at) => {
      if (!covers(other, kind)) return;
      const more =
        bitCount(other.masks) + bitCount(other.flags) - bitCount(kind.masks) - bitCount(kind.flags);
      if (more < extra) [place, extra] = [at, more];
    });
    places.set(kind, place);
    cost += kind.lookups * mistake * extra * LIKELY_PROBE;
  });
  return { bits, chosen, places, cost };
}

/** The share of lookups that have the depth of a row, so that they probe it. */
const LIKELY_PROBE = 0.5;

/** For each combination of certain flags, a kind with the rows of all kinds that have it. */
function unions(kinds: readonly Kind[]): Pick<Kind, "masks" | "flags">[] {
  const byFlags = new Map<number, { masks: number; flags: number }>();
  for (const { masks, flags } of kinds) {
    const certain = flags & CERTAIN;
    const union = byFlags.get(certain) ?? { masks: 0, flags: 0 };
    byFlags.set(certain, union);
    union.masks |= masks;
    union.flags |= flags;
  }
  return [...byFlags.values()];
}

function covers(wide: Pick<Kind, "masks" | "flags">, kind: Kind): boolean {
  return (
    (kind.masks & ~wide.masks) === 0 &&
    (kind.flags & ~wide.flags) === 0 &&
    (kind.flags & CERTAIN) === (wide.flags & CERTAIN)
  );
}

/** The bits at which one more saves fewer wrong answers than it costs. */
function fingerprintBits(profiles: HostProfiles, width: number, demand: Demand): number {
  const mistake = Math.min(1, 2 ** (1 - width / 8));
  let positive = 0;
  for (let host = 0; host < profiles.count; host++) {
    positive += (profiles.flags[host] & FLAG.all) === 0 ? mistake : 1;
  }
  const wrong = (demand.elsewhere * positive) / profiles.count;
  const perBit = demand.price * profiles.count * TABLE_SLACK;
  // The wrong answers that remain, wrong · 2^-f, fall by half with each bit.
  let bits = 1;
  while (bits < 16 && wrong * 2 ** -bits - wrong * 2 ** -(bits + 1) > perBit) bits++;
  return bits;
}

function bitCount(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
