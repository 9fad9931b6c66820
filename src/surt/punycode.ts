// RFC 3492, with its parameters for IDNA.
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 0x80;

/** The punycode of a text, without the `xn--`. Quadratic time: for labels, not for long texts. */
export function encodePunycode(text: string): string {
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const basic = codePoints.filter((codePoint) => codePoint < INITIAL_N);
  let output = String.fromCharCode(...basic);
  if (basic.length > 0) output += "-";

  let n = INITIAL_N;
  let delta = 0;
  let bias = INITIAL_BIAS;
  let handled = basic.length;
  while (handled < codePoints.length) {
    let next = Infinity;
    for (const codePoint of codePoints) {
      if (codePoint >= n && codePoint < next) next = codePoint;
    }
    delta += (next - n) * (handled + 1);
    n = next;
    for (const codePoint of codePoints) {
      if (codePoint < n) delta++;
      if (codePoint !== n) continue;
      output += variableLengthInteger(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return output;
}

function variableLengthInteger(delta: number, bias: number): string {
  let digits = "";
  let q = delta;
  for (let k = BASE; ; k += BASE) {
    const t = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (q < t) return digits + digit(q);
    digits += digit(t + ((q - t) % (BASE - t)));
    q = Math.floor((q - t) / (BASE - t));
  }
}

/** 0–25 are letters, 26–35 are figures. */
function digit(value: number): string {
  return String.fromCharCode(value < 26 ? value + 0x61 : value - 26 + 0x30);
}

function adapt(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / points);
  let k = 0;
  while (rest > ((BASE - T_MIN) * T_MAX) / 2) {
    rest = Math.floor(rest / (BASE - T_MIN));
    k += BASE;
  }
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
