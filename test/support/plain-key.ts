/** Whether the kernels take rows of a key: a page or a wildcard, without a query. */
export function isPlainKey(key: string): boolean {
  return !key.includes("?") && !key.includes(",*)") && (key.includes(")") || /.,\*$/.test(key));
}
