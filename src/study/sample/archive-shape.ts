import type { Random } from "../../bytes/random.ts";

/*
 * The shape of a real archive: Arquivo.pt as counted by Alam et al., "MementoMap Framework for
 * Flexible and Adaptive Web Archive Profiling" (2019). Each constant names its table.
 */

/** A top-level domain with its share, in percent, of originals and of mementos. */
interface TldShare {
  readonly tld: string;
  readonly originals: number;
  readonly mementos: number;
}

/** Table top-tld. IP addresses and the other TLDs are below. */
export const TOP_TLDS: readonly TldShare[] = [
  { tld: "pt", originals: 61.422, mementos: 68.266 },
  { tld: "com", originals: 19.61, mementos: 19.643 },
  { tld: "eu", originals: 8.665, mementos: 4.262 },
  { tld: "net", originals: 1.973, mementos: 1.829 },
  { tld: "org", originals: 1.79, mementos: 1.263 },
  { tld: "de", originals: 0.635, mementos: 0.343 },
  { tld: "br", originals: 0.617, mementos: 0.47 },
  { tld: "uk", originals: 0.449, mementos: 0.26 },
  { tld: "fr", originals: 0.347, mementos: 0.173 },
  { tld: "nl", originals: 0.274, mementos: 0.131 },
  { tld: "mz", originals: 0.236, mementos: 0.414 },
  { tld: "pl", originals: 0.226, mementos: 0.104 },
  { tld: "io", originals: 0.223, mementos: 0.208 },
  { tld: "edu", originals: 0.201, mementos: 0.096 },
  { tld: "es", originals: 0.2, mementos: 0.126 },
  { tld: "it", originals: 0.198, mementos: 0.109 },
  { tld: "cv", originals: 0.198, mementos: 0.335 },
  { tld: "ru", originals: 0.196, mementos: 0.203 },
  { tld: "ao", originals: 0.156, mementos: 0.295 },
  { tld: "us", originals: 0.142, mementos: 0.102 },
  { tld: "cz", originals: 0.117, mementos: 0.057 },
  { tld: "info", originals: 0.113, mementos: 0.16 },
];

/** Table top-tld: IP addresses. */
export const IP_SHARE = { originals: 0.07, mementos: 0.05 } as const;
/** Table top-tld: all other TLDs together. */
export const OTHER_TLD_SHARE = { originals: 1.941, mementos: 1.149 } as const;

/** TLDs that share what the table calls "Other TLDs". The names are ours: the paper has counts only. */
export const OTHER_TLDS: readonly string[] =
  "ac ae ag ai am ar arpa art as asia at au az ba bar be bg biz blog by ca cat cc ch cl cloud club cn co coop cr cu cx cy design dev dk do ec ee eg email fi fm gal gg gl global gov gr gs gt guru hk hr hu id ie il im in int ir is jobs jp ke kr kz la li link live lt lu lv ly ma mc md me mil mk ml mobi mo moe ms mt mu museum mx my name news ng nu nz online pa pe ph pk post press pro ps pw re ro rs sa sc se sg sh shop si site sk sm sn sr st store su sx tc tech tel th tk tl tn to today top tr travel tv tw ua ug uy uz va ve vg vn vu website wiki work ws xn--p1ai xxx xyz za zm zw".split(
    " ",
  );

/** TLDs with registrations one level down (`co.uk`): their largest domain is such a suffix. */
export const REGISTRY_SUFFIXES: ReadonlyMap<string, string> = new Map([
  ["ao", "co"],
  ["br", "com"],
  ["mz", "co"],
  ["uk", "co"],
]);

/* Tables host-path-depth-exact and pt-urim-urir-dist, in millions. */
const KEYS = 1138.923;
const ORIGINALS = 1999.79;
const MEMENTOS = 4923.081;

/** A line of an index is a memento. */
export const LINES_PER_KEY: number = MEMENTOS / KEYS;
/** More than 1, because keys have no query. */
export const ORIGINALS_PER_KEY: number = ORIGINALS / KEYS;
/** The paper's gamma. */
export const MEMENTOS_PER_ORIGINAL: number = MEMENTOS / ORIGINALS;

/** The most archived original has this share of all mementos (table pt-urim-urir-dist). */
export const LARGEST_ORIGINAL_SHARE: number = 2_308_634 / 4_923_080_506;

/** The largest host has this share of all keys (table host-path-depth-stats, P0, Max). */
export const LARGEST_HOST_SHARE: number = 2_264_623 / 1_138_923_169;

/** One depth of the host or of the path tree, in thousands of keys or nodes. */
interface DepthRow {
  /** Keys of exactly this depth. */
  readonly keys: number;
  /** Keys of this depth or deeper. */
  readonly keysBelow: number;
  /** Nodes of this depth. */
  readonly nodes: number;
  /** Nodes of this depth with children. */
  readonly parents: number;
}

/** Tables host-path-depth-exact and host-path-depth-stats, host depths 2 to 9. */
export const HOST_DEPTHS: readonly DepthRow[] = [
  { keys: 508_607.506, keysBelow: 1_138_916.69, nodes: 2068.333, parents: 253.091 },
  { keys: 429_000.297, keysBelow: 630_309.184, nodes: 2158.88, parents: 148.589 },
  { keys: 161_912.251, keysBelow: 201_308.887, nodes: 1329.137, parents: 31.635 },
  { keys: 21_825.084, keysBelow: 39_396.636, nodes: 245.881, parents: 16.496 },
  { keys: 7935.125, keysBelow: 17_571.552, nodes: 103.579, parents: 10.061 },
  { keys: 3252.943, keysBelow: 9636.427, nodes: 34.38, parents: 15.359 },
  { keys: 3722.893, keysBelow: 6383.484, nodes: 69.829, parents: 55.811 },
  { keys: 2660.591, keysBelow: 2660.591, nodes: 55.811, parents: 0 },
];

/** The same tables, path depths 0 to 11 (the last one stands for all deeper ones). */
export const PATH_DEPTHS: readonly DepthRow[] = [
  { keys: 4456.831, keysBelow: 1_138_923.169, nodes: 5841.503, parents: 5828.059 },
  { keys: 113_022.403, keysBelow: 1_134_466.338, nodes: 145_687.459, parents: 40_130.355 },
  { keys: 225_489.773, keysBelow: 1_021_443.935, nodes: 290_761.965, parents: 79_234.027 },
  { keys: 334_455.187, keysBelow: 795_954.162, nodes: 392_635.328, parents: 66_059.544 },
  { keys: 174_429.887, keysBelow: 461_498.975, nodes: 215_251.988, parents: 48_163.114 },
  { keys: 127_484.179, keysBelow: 287_069.088, nodes: 158_256.277, parents: 33_776.599 },
  { keys: 68_578.693, keysBelow: 159_584.909, nodes: 91_334.214, parents: 24_201.781 },
  { keys: 45_819.3, keysBelow: 91_006.216, nodes: 60_099.825, parents: 14_890.308 },
  { keys: 22_178.8, keysBelow: 45_186.916, nodes: 31_101.768, parents: 9233.634 },
  { keys: 15_553.102, keysBelow: 23_008.116, nodes: 18_601.197, parents: 3206.26 },
  { keys: 6596.158, keysBelow: 7455.014, nodes: 6817.122, parents: 222.432 },
  { keys: 858.856, keysBelow: 858.856, nodes: 858.856, parents: 0 },
];

/** One year of captures: thousands of mementos, and the percentages of status classes. */
export interface YearRow {
  readonly year: number;
  readonly mementos: number;
  readonly redirects: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** Records without a status of their own: revisits and screenshots. */
  readonly revisits: number;
}

function yearRow(
  year: number,
  mementos: number,
  [redirects, clientErrors, serverErrors, revisits]: readonly [number, number, number, number],
): YearRow {
  return { year, mementos, redirects, clientErrors, serverErrors, revisits };
}

/**
 * Table yearly-dist. The paper's revisits show only in the last two years; we add a few per cent
 * from 2014 on, as crawlers that deduplicate write them.
 */
export const YEARS: readonly YearRow[] = [
  yearRow(1992, 0.001, [0, 0, 0, 0]),
  yearRow(1993, 0.001, [0, 0, 0, 0]),
  yearRow(1994, 0.225, [0, 0, 0, 0]),
  yearRow(1995, 0.742, [0, 0, 0, 0]),
  yearRow(1996, 126.6, [0.01, 0, 0, 0]),
  yearRow(1997, 847.783, [0, 0, 0, 0]),
  yearRow(1998, 747.114, [0.77, 0, 0, 0]),
  yearRow(1999, 1233.994, [10.61, 12.84, 0, 0]),
  yearRow(2000, 13_413.518, [7.24, 5.73, 0, 0]),
  yearRow(2001, 7873.642, [4.87, 1.25, 0.01, 0]),
  yearRow(2002, 13_048.749, [5.11, 3.92, 0.01, 0]),
  yearRow(2003, 19_989.725, [4.45, 3.41, 0.03, 0]),
  yearRow(2004, 22_810.763, [5.11, 2.88, 0.01, 0]),
  yearRow(2005, 19_839.405, [3.94, 2.07, 0.01, 0]),
  yearRow(2006, 15_388.836, [6.29, 1.37, 0.01, 0]),
  yearRow(2007, 43_021.527, [14.88, 2.08, 0.01, 0]),
  yearRow(2008, 174_996.303, [8.95, 6.18, 0.37, 0]),
  yearRow(2009, 355_833.394, [6.55, 6.49, 0.36, 0]),
  yearRow(2010, 352_019.433, [6.83, 6.49, 0.42, 0]),
  yearRow(2011, 465_274.765, [6.21, 6.99, 0.58, 0]),
  yearRow(2012, 200_042.923, [6.66, 7.96, 0.46, 0]),
  yearRow(2013, 236_583.969, [7.28, 10.9, 0.57, 0]),
  yearRow(2014, 536_560.181, [7.1, 13.47, 0.52, 2]),
  yearRow(2015, 1_087_680.516, [5.12, 17.75, 0.32, 2]),
  yearRow(2016, 1_353_786.928, [6.46, 20.78, 1.3, 3]),
  yearRow(2017, 1111.999, [5.44, 7.89, 0.22, 28.63]),
  yearRow(2018, 847.47, [5.63, 1.38, 0, 70.92]),
];

/**
 * Splits a total into whole parts of at least 1, sized by the Zipf-Mandelbrot law, largest first.
 *
 * The sizes depend on the totals only, not on chance: a small sample then has the same shape as a
 * large one. Needs `parts <= total`. The parts add up to the total exactly.
 */
export function zipfSplit(total: number, parts: number): number[] {
  // The shift keeps the largest of many near a tenth of all, as in real archives.
  const shift = Math.min(15, 1 + parts / 8);
  const weights = Array.from({ length: parts }, (_, rank) => (rank + shift) ** -2.5);
  return proportionalSplit(total - parts, weights).map((size) => size + 1);
}

/** Splits a total into whole parts, each within 1 of its weight's share; they add up exactly. */
export function proportionalSplit(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let seen = 0;
  let given = 0;
  return weights.map((weight, i) => {
    seen += weight;
    const upTo = i === weights.length - 1 ? total : Math.floor((total * seen) / sum);
    const size = upTo - given;
    given = upTo;
    return size;
  });
}

/**
 * The exponent with which {@link drawPowerLaw} has the given mean, when it is not cut off.
 *
 * A mean is the zeta function of its exponent; a mean of 1 or less gives an exponent so high that
 * every draw is 1.
 */
export function exponentForMean(mean: number): number {
  let low = 1.01;
  let high = 40;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (zeta(middle) > mean) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** A whole number k >= 1 with P(k or more) = k^-exponent, cut off at a maximum. */
export function drawPowerLaw(random: Random, exponent: number, maximum: number): number {
  const u = 1 - random.real();
  return Math.min(maximum, Math.floor(u ** (-1 / exponent)));
}

function zeta(exponent: number): number {
  const terms = 64;
  let sum = 0;
  for (let n = 1; n < terms; n++) sum += n ** -exponent;
  // The rest by the Euler-Maclaurin formula.
  return sum + terms ** (1 - exponent) / (exponent - 1) + terms ** -exponent / 2;
}
