// What is plain in rows and in lookups. All else is left to src/map/lookup.

import { CLOSE_PAREN, COMMA, LF, QUESTION, QUOTE, SLASH, SPACE, STAR, ZERO } from "../shared/bytes";

const DELETE: u8 = 127;
const MAX_DIGITS: usize = 15;

/** In a host: part of a label, between two labels, or its end. */
export const LABEL: u8 = 1;
export const SEPARATOR: u8 = 2;
export const HOST_END: u8 = 3;

const hostKinds: usize = memory.data(256);
for (let byte: u8 = 97; byte <= 122; byte++) store<u8>(hostKinds + <usize>byte, LABEL);
for (let byte: u8 = 48; byte <= 58; byte++) store<u8>(hostKinds + <usize>byte, LABEL);
store<u8>(hostKinds + 45, LABEL); // -
store<u8>(hostKinds + 46, LABEL); // .
store<u8>(hostKinds + 95, LABEL); // _
store<u8>(hostKinds + <usize>COMMA, SEPARATOR);
store<u8>(hostKinds + <usize>CLOSE_PAREN, HOST_END);

/** What a byte is in a host; 0 if no plain host has it. */
@inline
export function hostKind(byte: u8): u8 {
  return load<u8>(hostKinds + <usize>byte);
}

/** In a path: part of a segment, the slash behind one, or no byte of a plain path. */
export const IN_SEGMENT: u8 = 0;
export const SEGMENT_END: u8 = 1;
const NOT_IN_PATH: u8 = 2;

const pathKinds: usize = memory.data(256);
for (let byte: i32 = 0; byte < 256; byte++) {
  if (byte <= <i32>SPACE || byte >= <i32>DELETE) store<u8>(pathKinds + <usize>byte, NOT_IN_PATH);
}
store<u8>(pathKinds + <usize>QUOTE, NOT_IN_PATH);
store<u8>(pathKinds + <usize>STAR, NOT_IN_PATH);
store<u8>(pathKinds + <usize>QUESTION, NOT_IN_PATH);
store<u8>(pathKinds + <usize>SLASH, SEGMENT_END);

/** What a byte is in a path; `pathEnd` finds the first that no plain path has. */
@inline
export function pathKind(byte: u8): u8 {
  return load<u8>(pathKinds + <usize>byte);
}

/**
 * Where the first byte is that no path of a plain key has: blanks, control characters, `?`, `*`, `"`
 * and what is not ASCII. Up to 15 bytes behind it are read.
 */
@inline
export function pathEnd(from: usize): usize {
  let at = from;
  let found: i32 = 0;
  for (;;) {
    const bytes = v128.load(at);
    found = i8x16.bitmask(
      v128.or(
        v128.or(endsText(bytes), i8x16.eq(bytes, i8x16.splat(<i8>QUOTE))),
        i8x16.eq(bytes, i8x16.splat(<i8>QUESTION)),
      ),
    );
    if (found != 0) break;
    at += 16;
  }
  return at + <usize>ctz(found);
}

/** Where the first blank, control character, `*` or byte that is not ASCII is. */
@inline
export function textEnd(from: usize): usize {
  let at = from;
  let found: i32 = 0;
  for (;;) {
    found = i8x16.bitmask(endsText(v128.load(at)));
    if (found != 0) break;
    at += 16;
  }
  return at + <usize>ctz(found);
}

/** As signed numbers, bytes that are not ASCII are below blanks. */
@inline
export function endsText(bytes: v128): v128 {
  return v128.or(
    v128.or(
      i8x16.le_s(bytes, i8x16.splat(<i8>SPACE)),
      i8x16.eq(bytes, i8x16.splat(<i8>STAR)),
    ),
    i8x16.eq(bytes, i8x16.splat(<i8>DELETE)),
  );
}

/**
 * The end of the host that starts at `from`: where its `)` is, or the `*` in place of a label if
 * `takesStar`. 0 for a host that is not plain.
 */
@inline
export function hostEnd(from: usize, takesStar: bool): usize {
  let labelStart = from;
  let at = from;
  let kind = hostKind(load<u8>(at));
  while (kind == LABEL || (kind == SEPARATOR && at > labelStart)) {
    at++;
    if (kind == SEPARATOR) labelStart = at;
    kind = hostKind(load<u8>(at));
  }
  if (at == labelStart) return takesStar && at > from && load<u8>(at) == STAR ? at : 0;
  return kind == HOST_END && load<u8>(at + 1) == SLASH ? at : 0;
}

/** The line feed behind a frequency with a count of mementos; 0 where there is none. */
@inline
export function frequencyEnd(from: usize): usize {
  const at = countEnd(from);
  if (at == 0 || load<u8>(at) == LF) return at;
  if (load<u8>(at) != SLASH) return 0;
  const end = countEnd(at + 1);
  return end != 0 && load<u8>(end) == LF ? end : 0;
}

@inline
function countEnd(from: usize): usize {
  let at = from;
  while (<u8>(load<u8>(at) - ZERO) <= 9) at++;
  if (at == from || at - from > MAX_DIGITS) return 0;
  return isBound(load<u8>(at)) ? at + 1 : at;
}

/** `+`, `-` or `~`. */
@inline
export function isBound(byte: u8): bool {
  return byte == 43 || byte == 45 || byte == 126;
}
