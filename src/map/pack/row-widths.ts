/** Offsets from the bits of most rows, in whole bits, that are considered. */
const LEAST_OFFSET = -8;
const OFFSETS = 17;
const MAX_CLASSES = 16;
const PRECISION = 2 ** -6;

/** How the bits of rows differ between hosts. */
export interface RowWidths {
  /** For each host, how many bits more its rows have than `bits`. */
  readonly offsets: () => Int8Array;
  /** How many different ones there are: 1, or a power of two. */
  readonly classes: number;
  /** The bits of rows with an offset of 0. */
  readonly bits: number;
  /** The share of lookups that mistake a row: of hosts that are held, by each judge; and of others, which get any width. */
  readonly wrong: readonly number[];
  readonly wrongElsewhere: number;
}

interface Widths extends Pick<RowWidths, "classes" | "bits" | "wrong"> {
  /** The least offset. */
  readonly low: number;
}

/**
 * Chooses bits for the rows of each host, so that the fewest lookups go wrong.
 *
 * Rows that are asked for often deserve more bits than others: one bit for each doubling of the lookups
 * for each row. Hosts of about the same need share a class, because the table must name it.
 */
export class HostNeeds {
  readonly #offsets: Int8Array;
  /** By offset. */
  readonly #rows: Float64Array = new Float64Array(OFFSETS);
  /** For each judge, the share of its lookups by offset. */
  readonly #judges: readonly Float64Array[];
  readonly #allRows: number;
  readonly #hosts: number;

  /** @param judges the lookups that count wrong answers, where these are others. */
  constructor(
    rows: Uint32Array,
    lookups: Float64Array,
    judges: readonly Float64Array[] = [lookups],
  ) {
    const hosts = lookups.length;
    let [allRows, allLookups] = [0, 0];
    for (let host = 0; host < hosts; host++) {
      if (rows[host] === 0) continue;
      allRows += rows[host];
      allLookups += lookups[host];
    }
    this.#allRows = allRows;
    this.#hosts = hosts;
    this.#offsets = Int8Array.from({ length: hosts }, (_, host) => {
      const need = (lookups[host] * allRows) / (rows[host] * allLookups);
      if (rows[host] === 0 || !(need > 0)) return 0;
      return clamp(Math.round(Math.log2(need)), LEAST_OFFSET, LEAST_OFFSET + OFFSETS - 1);
    });
    this.#offsets.forEach((offset, host) => {
      this.#rows[offset - LEAST_OFFSET] += rows[host];
    });
    this.#judges = judges.map((counts) => {
      const byOffset = new Float64Array(OFFSETS);
      let all = 0;
      this.#offsets.forEach((offset, host) => {
        if (rows[host] === 0) return;
        byOffset[offset - LEAST_OFFSET] += counts[host];
        all += counts[host];
      });
      return byOffset.map((count) => count / Math.max(1e-9, all));
    });
  }

  /**
   * The best widths where a row has `bits` on average. One more bit for each host, to name twice as many
   * classes, must pay as much as a bit of the rows does.
   */
  widths(bits: number): RowWidths {
    const perBit = (Math.LN2 * 2 ** -bits * this.#hosts) / Math.max(1, this.#allRows);
    let best: Widths & { cost: number } = {
      ...this.#within(0, 1, bits),
      cost: Number.POSITIVE_INFINITY,
    };
    for (let classes = 1; classes <= MAX_CLASSES; classes *= 2) {
      for (let low = LEAST_OFFSET; low + classes <= LEAST_OFFSET + OFFSETS; low++) {
        const found = this.#within(low, classes, bits);
        const wrong = found.wrong.reduce((sum, one) => sum + one, 0) / found.wrong.length;
        const cost = wrong + perBit * Math.log2(classes);
        if (cost < best.cost) best = { ...found, cost };
      }
    }
    const { low, classes, wrong } = best;
    const offsets = (): Int8Array =>
      this.#offsets.map((offset) => clamp(offset, low, low + classes - 1));
    let elsewhere = 0;
    for (let i = 0; i < classes; i++) elsewhere += mistaken(Math.max(0, best.bits + low + i), 1);
    const wrongElsewhere = elsewhere / classes;
    return { offsets, classes, bits: best.bits, wrong, wrongElsewhere };
  }

  /** What comes of offsets from `low` on, as many as there are classes. */
  #within(low: number, classes: number, bits: number): Widths {
    const used = Float64Array.from({ length: OFFSETS }, (_, at) =>
      clamp(at + LEAST_OFFSET, low, low + classes - 1),
    );
    const all = bits * this.#allRows;
    let [least, most] = [bits - low - classes, bits - low];
    while (most - least > PRECISION) {
      const base = (least + most) / 2;
      let sum = 0;
      for (let at = 0; at < OFFSETS; at++) sum += this.#rows[at] * Math.max(0, base + used[at]);
      if (sum > all) most = base;
      else least = base;
    }
    const mistakes = used.map((offset) => mistaken(Math.max(0, least + offset), 1));
    const wrong = this.#judges.map((shares) =>
      shares.reduce((sum, share, at) => sum + share * mistakes[at], 0),
    );
    return { low, classes, bits: least, wrong };
  }
}

/** The chance that one of some names that are not there is taken for a row; bits may be fractions. */
export function mistaken(bits: number, probes: number): number {
  const whole = Math.floor(bits);
  const once = 2 ** -whole * (1 - (bits - whole) / 2);
  return probes <= 1 ? probes * once : 1 - (1 - once) ** probes;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
