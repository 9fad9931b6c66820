import { type Descriptor, FLAG, MAX_ROW_BITS } from "../packed/packed-file.ts";
import type { HostProfiles } from "./host-profiles.ts";

/** Flags that must hold for every host with the descriptor, so hosts without them cannot share it. */
const CERTAIN = FLAG.all | FLAG.voids;
/** Maximum descriptors of a file. More would cost a bit per host and hardly save probes. */
const MAX_DESCRIPTORS = 16;
/** Row width, in eighths of a bit, of hosts with voids: a false positive would hide a void. */
const SURE_WIDTH = 8 * MAX_ROW_BITS;
/** Fingerprint bits of hosts if a domain has a void, which covers unknown hosts, too. */
const SURE_FINGERPRINT = 24;

/** The layout of a packed map. */
export interface PackedLayout {
  /** Bits of a row, in eighths. */
  readonly width: number;
  /** Bits in the table of hosts. */
  readonly fingerprintBits: number;
  readonly descriptorBits: number;
  /** The descriptor of each host, and what they are. */
  readonly descriptors: readonly Descriptor[];
  readonly descriptorOf: Uint16Array;
}

/** A class of hosts with the same profile. */
interface Kind {
  readonly masks: number;
  readonly flags: number;
}

/**
 * Lays out a file with a table of hosts: the most frequent kinds of hosts get a descriptor each, and all others share
 * one that covers all their rows.
 *
 * @param width bits of a row, in eighths.
 * @param hasDescriptors false to use a single descriptor, if possible.
 */
export function tableLayout(
  profiles: HostProfiles,
  width: number,
  fingerprintBits: number,
  hasDescriptors = true,
): PackedLayout {
  const numbers = new Map<number, number>();
  const kinds: (Kind & { hosts: number })[] = [];
  const kindOf = Uint32Array.from({ length: profiles.count }, (_, host) => {
    const kind = kindOfHost(profiles, host);
    const name = kind.masks * 2 ** 8 + kind.flags;
    const number = numbers.get(name) ?? kinds.push({ ...kind, hosts: 0 }) - 1;
    numbers.set(name, number);
    kinds[number].hosts++;
    return number;
  });
  const chosen = chosenKinds(
    kinds.toSorted((a, b) => b.hosts - a.hosts || a.masks - b.masks || a.flags - b.flags),
    hasDescriptors ? MAX_DESCRIPTORS : 1,
  );
  const placeOf = kinds.map((kind) => chosen.findIndex((one) => covers(one, kind)));
  return {
    width,
    fingerprintBits: Math.max(
      fingerprintBits,
      profiles.voidDomains.length > 0 ? SURE_FINGERPRINT : 0,
    ),
    descriptorBits: Math.ceil(Math.log2(Math.max(1, chosen.length))),
    descriptors: chosen.map((kind) => descriptorOfKind(kind, width)),
    descriptorOf: Uint16Array.from(kindOf, (kind) => placeOf[kind]),
  };
}

/** A layout without a table: all hosts share one descriptor and are distinguished by rows alone. */
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
    descriptors: [descriptorOfKind({ masks, flags: flags & ~(FLAG.all | FLAG.home) }, width)],
    descriptorOf: new Uint16Array(profiles.count),
  };
}

/** The kind of a host. If all of it is held and it has no voids, its rows do not matter. */
function kindOfHost({ masks, flags }: HostProfiles, host: number): Kind {
  const isAll = (flags[host] & CERTAIN) === FLAG.all;
  return isAll ? { masks: 0, flags: FLAG.all } : { masks: masks[host], flags: flags[host] };
}

function descriptorOfKind({ masks, flags }: Kind, width: number): Descriptor {
  return {
    exact: masks & 0xff,
    wildcards: masks >>> 8,
    flags,
    width: (flags & FLAG.voids) === 0 ? width : SURE_WIDTH,
  };
}

/** The most frequent kinds, and unions that cover all others; exceeds `room` if necessary. */
function chosenKinds(kinds: readonly Kind[], room: number): readonly Kind[] {
  if (kinds.length <= room) return kinds;
  for (const certain of [CERTAIN | FLAG.home, CERTAIN]) {
    for (let kept = room - 1; kept >= 0; kept--) {
      const others = unions(kinds.slice(kept), certain);
      if (kept + others.length <= room) return [...kinds.slice(0, kept), ...others];
    }
  }
  return unions(kinds, CERTAIN);
}

/** For each combination of certain flags, the union of all kinds that have it. */
function unions(kinds: readonly Kind[], certain: number): Kind[] {
  const byFlags = new Map<number, { masks: number; flags: number }>();
  for (const { masks, flags } of kinds) {
    const union = byFlags.get(flags & certain) ?? { masks: 0, flags: 0 };
    byFlags.set(flags & certain, union);
    // A home page that is not certain is a row.
    union.masks |= masks | (flags & ~certain & FLAG.home);
    union.flags |= flags & (certain | ~FLAG.home);
  }
  return [...byFlags.values()];
}

function covers(one: Kind, kind: Kind): boolean {
  const homeRow = kind.flags & ~one.flags & FLAG.home;
  return (
    (one.flags & CERTAIN) === (kind.flags & CERTAIN) &&
    (one.flags & ~kind.flags & FLAG.home) === 0 &&
    ((kind.masks | homeRow) & ~one.masks) === 0 &&
    (kind.flags & ~one.flags & ~FLAG.home) === 0
  );
}
