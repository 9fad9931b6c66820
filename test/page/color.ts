/** Red, green and blue as light, from 0 to 1. */
type Light = readonly [number, number, number];

function lightOf(hex: string): Light {
  const parts = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [a, b]
    .map((hex) => {
      const [red, green, blue] = lightOf(hex);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    })
    .toSorted((x, y) => x - y);
  return high / low;
}

/** How people see: all colours, or without one kind of cone (Machado, Oliveira and Fernandes 2009). */
const SIGHTS = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deuteranopia: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritanopia: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
} as const;

export type Sight = keyof typeof SIGHTS;

export const ALL_SIGHTS: readonly Sight[] = ["normal", "protanopia", "deuteranopia", "tritanopia"];

/** How different two colours look, by CIEDE2000: 1 is just noticeable, 10 is seen at a glance. */
export function difference(a: string, b: string, sight: Sight): number {
  return deltaE(labOf(seen(lightOf(a), sight)), labOf(seen(lightOf(b), sight)));
}

function seen([red, green, blue]: Light, sight: Sight): Light {
  const m = SIGHTS[sight];
  const row = (i: number): number =>
    Math.min(1, Math.max(0, (m[i] ?? 0) * red + (m[i + 1] ?? 0) * green + (m[i + 2] ?? 0) * blue));
  return [row(0), row(3), row(6)];
}

type Lab = readonly [number, number, number];

function labOf([red, green, blue]: Light): Lab {
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const y = f(0.2126729 * red + 0.7151522 * green + 0.072175 * blue);
  const z = f((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const DEGREE = Math.PI / 180;

/** CIEDE2000, as in Sharma, Wu and Dalal 2005, whose names it keeps. */
export function deltaE([l1, a1, b1]: Lab, [l2, a2, b2]: Lab): number {
  const seventh = (c: number): number => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const g = 0.5 * (1 - seventh((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const [ap1, ap2] = [(1 + g) * a1, (1 + g) * a2];
  const [c1, c2] = [Math.hypot(ap1, b1), Math.hypot(ap2, b2)];
  const hue = (a: number, b: number): number => (Math.atan2(b, a) / DEGREE + 360) % 360;
  const [h1, h2] = [hue(ap1, b1), hue(ap2, b2)];
  const isGrey = c1 * c2 === 0;
  const turn = h2 - h1;
  const dh = isGrey ? 0 : turn > 180 ? turn - 360 : turn < -180 ? turn + 360 : turn;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * DEGREE);
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const sum = h1 + h2;
  const far = sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2;
  const h = isGrey ? sum : Math.abs(turn) <= 180 ? sum / 2 : far;
  const cos = (degrees: number): number => Math.cos(degrees * DEGREE);
  const t =
    1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const sc = 1 + 0.045 * c;
  const sh = 1 + 0.015 * c * t;
  const rt = -2 * seventh(c) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * DEGREE);
  const [dl, dc, dhue] = [(l2 - l1) / sl, (c2 - c1) / sc, dH / sh];
  return Math.sqrt(dl ** 2 + dc ** 2 + dhue ** 2 + rt * dc * dhue);
}
