/*
 * What logs say of an original is sorted together with its captures (see original-key.ts):
 *
 *     original MONTH_MARK tag detail
 *
 * Tags are bytes that no month begins with.
 */

/**
 * What a log entry is: a hit with its number of mementos, a miss with its archive, a request with
 * its URI, or an answer that is open, with the archive if that failed, and without if the answer
 * could be about another URI.
 */
export const LOG_TAG = { hit: 0x7b, miss: 0x7c, request: 0x7d, open: 0x7e } as const;

/** Whether what stands behind the mark of an original comes from a log, and not from an index. */
export function isLogTag(byte: number): boolean {
  return byte >= LOG_TAG.hit && byte <= LOG_TAG.open;
}
