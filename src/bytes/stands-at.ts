/** Whether a text stands at an offset, and ends at or before `end`. */
export function standsAt(bytes: Uint8Array, at: number, end: number, text: Uint8Array): boolean {
  const { length } = text;
  if (at + length > end) return false;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}
