// Output lines that may still be taken back. Positions count from the start of what is held.
import { copyText, countLines, LF, SPACE, STAR, ZERO } from "../shared/bytes";
import { key } from "./nodes";

/** Takes decided output. */
@external("env", "write")
declare function write(pointer: usize, length: i32): void;

const OUTPUT_BYTES: i32 = 1 << 24;

let output: usize = 0;
/** Lines handed out. */
export let lineCount: i32 = 0;
export let outputEnd: i32 = 0;

export function openOutput(): void {
  output = heap.alloc(OUTPUT_BYTES + 8);
}

/** Whether this many more bytes fit. */
@inline
export function hasRoom(bytes: i32): bool {
  return outputEnd + bytes <= OUTPUT_BYTES;
}

@inline
export function appendBytes(start: usize, length: i32): void {
  copyText(output + <usize>outputEnd, start, length);
  outputEnd += length;
}

/** Appends the row of a roll-up: the first bytes of the key, a wildcard and a count. */
export function appendRollUpRow(textEnd: i32, separator: u8, total: u64): void {
  let at = output + <usize>outputEnd;
  copyText(at, key, textEnd);
  at += <usize>textEnd;
  store<u8>(at, separator);
  store<u8>(at, STAR, 1);
  store<u8>(at, SPACE, 2);
  at += 3;
  let width: i32 = 1;
  for (let rest = total; rest >= 10; rest /= 10) width++;
  let rest = total;
  for (let i = width - 1; i >= 0; i--) {
    store<u8>(at + <usize>i, ZERO + <u8>(rest % 10));
    rest /= 10;
  }
  at += <usize>width;
  store<u8>(at, LF);
  outputEnd = <i32>(at + 1 - output);
}

/** Takes back `[start, end)` and all from `next` on; what is between the two moves up. */
export function takeBack(start: i32, end: i32, next: i32): void {
  const between = next - end;
  memory.copy(output + <usize>start, output + <usize>end, <usize>between);
  outputEnd = start + between;
}

/** Hands out the first bytes. */
export function writeOut(length: i32): void {
  if (length > 0) {
    lineCount += countLines(output, length);
    write(output, length);
  }
  outputEnd -= length;
  memory.copy(output, output + <usize>length, <usize>outputEnd);
}
