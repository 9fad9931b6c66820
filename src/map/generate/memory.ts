/** What a run may hold unless told otherwise. */
export const DEFAULT_MEMORY_BYTES: number = 512 * 2 ** 20;
/** What Node needs for itself, and what each thread needs besides its table. */
const BASE_BYTES = 72 * 2 ** 20;
const THREAD_BYTES = 40 * 2 ** 20;
/** What it takes more where threads decompress: streams, and chunks waiting to be collected. */
const INFLATE_BYTES = 32 * 2 ** 20;
const MIN_TABLE_BYTES = 4 * 2 ** 20;

/** How many threads there is memory for, of so many; one at least. */
export function threadsWithin(memoryBytes: number, threads: number): number {
  const each = THREAD_BYTES + INFLATE_BYTES + MIN_TABLE_BYTES;
  return Math.max(1, Math.min(threads, Math.floor((memoryBytes - BASE_BYTES) / each)));
}

/** How large the key table of each thread may be so that the process stays within its memory. */
export function tableBytes(
  memoryBytes: number,
  threads: number,
  inflates: boolean = false,
): number {
  const threadBytes = THREAD_BYTES + (inflates ? INFLATE_BYTES : 0);
  const left = memoryBytes - BASE_BYTES - threads * threadBytes;
  return Math.max(MIN_TABLE_BYTES, Math.min(Math.floor(left / threads), 2 ** 31));
}
