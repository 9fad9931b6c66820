/*
 * Marks between the chunks of a stream that was put together from what is sound of a damaged file.
 * They are empty, so whoever does not look for them reads on as if they were not there.
 */

/** A gzip member begins. */
export const MEMBER: Uint8Array = new Uint8Array(0);

/** Bytes are missing: what follows does not go on with what came before. A member begins. */
export const GAP: Uint8Array = new Uint8Array(0);

/** A record begins, whatever the one before says of its length. */
export const RECORD: Uint8Array = new Uint8Array(0);
