/*
 * What logs say of an original is sorted together with its captures (see original-key.ts):
 *
 *     original MONTH_MARK tag detail
 *
 * Tags are bytes that no month begins with.
 */

/** What a log entry is: a request with its URI, a hit with its number of mementos, or a miss. */
export const LOG_TAG = { hit: 0x7b, miss: 0x7c, request: 0x7d } as const;

/** Whether what stands behind the mark of an original comes from a log, and not from an index. */
export function isLogTag(byte: number): boolean {
  return byte >= LOG_TAG.hit && byte <= LOG_TAG.request;
}
