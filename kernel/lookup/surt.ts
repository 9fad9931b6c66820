// The key of a URI, host and path of its SURT, as plainSurt of src/surt/uri-to-surt.ts has it.

import { CLOSE_PAREN, COMMA, CR, LF, QUESTION, SLASH, STAR, ZERO } from "../shared/bytes";
import { endsText } from "./plain";

const HASH: u8 = 35;
const PERCENT: u8 = 37;
const OPEN_PAREN: u8 = 40;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const COLON: u8 = 58;
const LOWER_S: u8 = 115;
const LOWER_W: u8 = 119;
/** `http`, as four bytes. */
const HTTP: u32 = 0x70747468;

/** Of labels of hosts, in lower case; 0 for other bytes. */
const labelBytes: usize = memory.data(256);
for (let byte: u8 = 97; byte <= 122; byte++) {
  store<u8>(labelBytes + <usize>byte, byte);
  store<u8>(labelBytes + <usize>(byte - 32), byte);
}
for (let byte: u8 = 48; byte <= 57; byte++) store<u8>(labelBytes + <usize>byte, byte);
store<u8>(labelBytes + <usize>MINUS, MINUS);
store<u8>(labelBytes + <usize>DOT, DOT);
store<u8>(labelBytes + 95, 95);

/** Of what was written last: where its host ends. */
export let writtenHostEnd: usize = 0;
/** Of what was read last: the first byte that does not belong to its path. */
export let readEnd: usize = 0;

/**
 * Writes the key of the URI in a line to `target`, and returns where it ends; 0 for a URI that is not
 * plain, or has `maxBytes` or more. Up to 16 bytes more are written.
 */
export function writeKey(line: usize, target: usize, maxBytes: usize): usize {
  if (load<u32>(line) != HTTP) return 0;
  const isHttps = load<u8>(line + 4) == LOWER_S;
  const colon = isHttps ? line + 5 : line + 4;
  if (load<u8>(colon) != COLON || load<u16>(colon + 1) != 0x2f2f) return 0;
  const host = colon + 3;
  const hostEnd = endOfHost(host);
  if (hostEnd == 0 || hostEnd - line > maxBytes) return 0;
  let to = writeHost(afterWww(host, hostEnd), hostEnd, target);
  let from = hostEnd;
  if (load<u8>(from) == COLON) {
    const portEnd = endOfPort(from + 1);
    if (portEnd == 0) return 0;
    if (!isDefaultPort(from + 1, portEnd, isHttps)) {
      while (from < portEnd) store<u8>(to++, load<u8>(from++));
    }
    from = portEnd;
  }
  if (load<u8>(target) == MINUS) return 0;
  writtenHostEnd = to;
  store<u8>(to++, CLOSE_PAREN);
  return writePath(from, to, line + maxBytes);
}

@inline
function isLineEnd(byte: u8): bool {
  return byte == LF || byte == CR;
}

@inline
function endsHost(byte: u8): bool {
  return byte == SLASH || byte == QUESTION || byte == HASH || isLineEnd(byte);
}

/** Refuses empty labels, and hosts that could be an address: those whose last label is a number. */
@inline
function endOfHost(host: usize): usize {
  let labelStart = host;
  let at = host;
  for (; ; at++) {
    const byte = load<u8>(at);
    if (byte == DOT) {
      if (at == labelStart) return 0;
      labelStart = at + 1;
    } else if (load<u8>(labelBytes + <usize>byte) == 0) {
      if (endsHost(byte) || byte == COLON) break;
      return 0;
    }
  }
  return at == labelStart || isDigit(load<u8>(labelStart)) ? 0 : at;
}

@inline
function isDigit(byte: u8): bool {
  return <u8>(byte - ZERO) <= 9;
}

@inline
function afterWww(host: usize, end: usize): usize {
  let at = host;
  while (at < host + 3) if ((load<u8>(at++) | 0x20) != LOWER_W) return host;
  while (at < end && isDigit(load<u8>(at))) at++;
  return at < end && load<u8>(at) == DOT ? at + 1 : host;
}

@inline
function writeHost(host: usize, end: usize, target: usize): usize {
  let to = target;
  let labelEnd = end;
  for (let dot = end - 1; dot >= host; dot--) {
    if (load<u8>(dot) != DOT) continue;
    to = writeLabel(dot + 1, labelEnd, to);
    store<u8>(to++, COMMA);
    labelEnd = dot;
  }
  return writeLabel(host, labelEnd, to);
}

@inline
function writeLabel(label: usize, end: usize, target: usize): usize {
  let to = target;
  for (let at = label; at < end; at++) store<u8>(to++, load<u8>(labelBytes + <usize>load<u8>(at)));
  return to;
}

/** Refuses what is not written the one canonical way. */
function endOfPort(port: usize): usize {
  let at = port;
  while (isDigit(load<u8>(at))) at++;
  const digits = at - port;
  return digits == 0 || digits > 4 || load<u8>(port) == ZERO || !endsHost(load<u8>(at)) ? 0 : at;
}

function isDefaultPort(port: usize, end: usize, isHttps: bool): bool {
  let number: i32 = 0;
  for (let at = port; at < end; at++) number = number * 10 + <i32>(load<u8>(at) - ZERO);
  return number == (isHttps ? 443 : 80);
}

/** Writes a path in lower case, without the slash at its end; 0 if it is not plain. */
@inline
function writePath(path: usize, target: usize, limit: usize): usize {
  let from = path;
  let to = target;
  if (load<u8>(from) != SLASH) store<u8>(to++, SLASH);
  /** Whether a slash was written last, as a bit. */
  let afterSlash: u32 = to > target ? 1 : 0;
  for (;;) {
    const bytes = v128.load(from);
    const slashes = i8x16.eq(bytes, i8x16.splat(<i8>SLASH));
    const ends = <u32>i8x16.bitmask(v128.or(endsText(bytes), v128.or(
      i8x16.eq(bytes, i8x16.splat(<i8>QUESTION)),
      v128.or(
        i8x16.eq(bytes, i8x16.splat(<i8>HASH)),
        i8x16.eq(bytes, i8x16.splat(<i8>PERCENT)),
      ),
    )));
    // Empty segments, and those that start with a dot or with `(`, as dot segments and session ids do.
    const starts = <u32>i8x16.bitmask(v128.or(slashes, v128.or(
      i8x16.eq(bytes, i8x16.splat(<i8>DOT)),
      i8x16.eq(bytes, i8x16.splat(<i8>OPEN_PAREN)),
    )));
    const slashBits = <u32>i8x16.bitmask(slashes);
    const isUpper = v128.and(
      i8x16.ge_s(bytes, i8x16.splat(65)),
      i8x16.le_s(bytes, i8x16.splat(90)),
    );
    v128.store(to, v128.or(bytes, v128.and(isUpper, i8x16.splat(0x20))));
    const count: u32 = ends == 0 ? 16 : ctz(ends);
    const taken: u32 = (1 << count) - 1;
    if ((((slashBits << 1) | afterSlash) & starts & taken) != 0) return 0;
    from += <usize>count;
    to += <usize>count;
    if (count > 0) afterSlash = (slashBits >> (count - 1)) & 1;
    if (from > limit) return 0;
    if (ends == 0) continue;
    if (load<u8>(from) != PERCENT) break;
    const escaped = writeEscape(from, to);
    if (escaped == 0) return 0;
    const decoded = load<u8>(to);
    if (decoded == STAR || (afterSlash != 0 && (decoded == DOT || decoded == OPEN_PAREN))) return 0;
    afterSlash = 0;
    from += 3;
    to = escaped;
  }
  readEnd = from;
  return afterSlash != 0 && to - target > 1 ? to - 1 : to;
}

/** Writes an escape in lower case, or what it stands for if that is a plain byte. */
function writeEscape(from: usize, target: usize): usize {
  const high = hexValue(load<u8>(from + 1));
  const low = hexValue(load<u8>(from + 2));
  if ((high | low) < 0) return 0;
  const byte = <u8>((high << 4) | low);
  if (byte > 0x20 && byte < 0x7f && byte != HASH) {
    if (byte == PERCENT || byte == SLASH || byte == QUESTION) return 0;
    store<u8>(target, <u8>(byte - 65) < 26 ? byte | 0x20 : byte);
    return target + 1;
  }
  store<u8>(target, PERCENT);
  store<u8>(target + 1, load<u8>(from + 1) | 0x20);
  store<u8>(target + 2, load<u8>(from + 2) | 0x20);
  return target + 3;
}

function hexValue(byte: u8): i32 {
  if (isDigit(byte)) return <i32>(byte - ZERO);
  const letter = <u8>((byte | 0x20) - 97);
  return letter < 6 ? <i32>letter + 10 : -1;
}
