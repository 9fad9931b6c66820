/** Below this, a plain loop beats the call to `TypedArray.prototype.set` on a fresh `subarray`. */
const LOOP_LIMIT = 96;

/** Copies `source[start, end)` into `target` at `at`; returns the offset behind the copy. */
export function copyRange(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const length = end - start;
  if (length > LOOP_LIMIT) {
    target.set(source.subarray(start, end), at);
  } else {
    for (let i = 0; i < length; i++) target[at + i] = source[start + i];
  }
  return at + length;
}
