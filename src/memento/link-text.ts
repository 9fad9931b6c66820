const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** The target of a link, which a scanner found in these bytes. */
export function targetText(bytes: Uint8Array, start: number, end: number): string {
  return DECODER.decode(bytes.subarray(start, end));
}

/** The value of a parameter, without the escapes of quoted text. */
export function valueText(bytes: Uint8Array, start: number, end: number): string {
  const text = targetText(bytes, start, end);
  return text.includes("\\") ? text.replaceAll(/\\([^])/g, "$1") : text;
}
