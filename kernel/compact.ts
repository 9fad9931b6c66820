// Compaction by weights of plain rows, in WebAssembly.
//
// A translation of src/compact/compactor.ts for rows `key count` whose key is a page or a wildcard
// and whose count is a plain number that is not 0: all that `generate` and `compact` write, but for
// exclusions. Anything else makes it give up, and the caller starts again with the Compactor.
// The comments there explain the tree; here are only those about memory.
//
// This is AssemblyScript: TypeScript syntax, WebAssembly semantics. Build: `npm run build`.

/** Takes decided output. */
@external("env", "write")
declare function write(pointer: usize, length: i32): void;

// The fields of a node, as offsets into NODE_BYTES.
const NODE_BYTES: usize = 80;
const TEXT_END: usize = 0;
const DEPTH: usize = 4;
const PARENT: usize = 8;
const LAYER: usize = 12;
const SEPARATOR: usize = 13;
const IS_PRESENT: usize = 14;
const HAS_WILDCARD: usize = 15;
const CHILDREN: usize = 16;
const IS_ROLLED_UP: usize = 20;
const CUTOFF: usize = 24;
const TOTAL: usize = 32;
const WILDCARD_TOTAL: usize = 40;
const HEAD_START: usize = 48;
const HEAD_END: usize = 52;
const CHILDREN_START: usize = 56;

const HOST: u8 = 0;
const ROOT: u8 = 1;
const PATH: u8 = 2;

const NONE: i32 = -1;
const MAX_NODES: i32 = 4096;
const MAX_KEY_BYTES: i32 = 1 << 16;
const MAX_DEPTH: i32 = 1024;
const OUTPUT_BYTES: i32 = 1 << 24;
const RELEASE_BYTES: i32 = 1 << 19;
const MAX_TOTAL: f64 = 9007199254740991;

const LF: u8 = 10;
const SPACE: u8 = 32;
const CLOSE_PAREN: u8 = 41;
const STAR: u8 = 42;
const COMMA: u8 = 44;
const SLASH: u8 = 47;
const ZERO: u8 = 48;
const QUESTION: u8 = 63;

const nodes: usize = memory.data(80 * 4096, 16);
const key: usize = memory.data((1 << 16) + 16, 16);
const hostCutoffs: usize = memory.data(8 * 1024, 16);
const pathCutoffs: usize = memory.data(8 * 1024, 16);
let output: usize = 0;
let input: usize = 0;
let inputBytes: i32 = 0;

let size: i32 = 0;
let keyLength: i32 = 0;
let hostEnd: i32 = NONE;
let outputEnd: i32 = 0;
let rolledUp: i32 = NONE;
let maxHostDepth: i32 = 0;
let maxPathDepth: i32 = 0;
let rollUpCount: i32 = 0;
let rowCount: i32 = 0;

let leafEnd: i32 = NONE;
let leafParent: i32 = NONE;
let leafDepth: i32 = 0;
let leafStart: i32 = 0;
let leafCount: f64 = 0;

/** Makes room for blocks of `bytes`; returns where they go. Call it once, first. */
export function open(bytes: i32, hostDepth: i32, pathDepth: i32): usize {
  output = heap.alloc(OUTPUT_BYTES);
  input = heap.alloc(bytes + 16);
  inputBytes = bytes;
  maxHostDepth = hostDepth;
  maxPathDepth = pathDepth;
  return input;
}

/** Where the cutoffs by depth go, as doubles. */
export function hostCutoffTable(): usize {
  return hostCutoffs;
}

export function pathCutoffTable(): usize {
  return pathCutoffs;
}

export function maxDepth(): i32 {
  return MAX_DEPTH;
}

export function rollUps(): i32 {
  return rollUpCount;
}

export function rows(): i32 {
  return rowCount;
}

/** Takes the whole lines in the first `length` bytes of the input; false to give up. */
export function compact(length: i32): bool {
  let at = input;
  const end = input + <usize>length;
  // What is behind the last line must not look like a part of it; but it is the caller's.
  const behind = load<u8>(end);
  store<u8>(end, 0);
  while (at < end) {
    const next = takeRow(at, end);
    if (next == 0) return false;
    at = next;
    rowCount++;
  }
  store<u8>(end, behind);
  return true;
}

/** Closes all nodes and writes all output; false to give up. */
export function finish(): bool {
  if (!settleLeaf(NONE, 0)) return false;
  while (size > 0) if (!close()) return false;
  if (outputEnd > 0) write(output, outputEnd);
  outputEnd = 0;
  return true;
}

/** Takes the row at `start`; returns where the next one begins, or 0 to give up. */
function takeRow(start: usize, end: usize): usize {
  let shared = sharedBytes(start, end);
  // The end of the key, the count, the end of the line.
  let at = start + <usize>shared;
  let byte: u8 = load<u8>(at);
  while (byte > SPACE) {
    if (byte == QUESTION) return 0;
    byte = load<u8>(++at);
  }
  const length = <i32>(at - start);
  if (byte != SPACE || length > MAX_KEY_BYTES || length < 2) return 0;
  at++;
  const digits = at;
  let count: u64 = 0;
  for (byte = load<u8>(at); byte >= ZERO && byte <= ZERO + 9; byte = load<u8>(++at)) {
    count = count * 10 + <u64>(byte - ZERO);
  }
  const width = <i32>(at - digits);
  if (byte != LF || at >= end || width > 15 || count == 0) return 0;
  const lineEnd = at + 1;

  if (shared >= length) return 0;
  const nextByte = load<u8>(start + <usize>shared);
  if (shared < keyLength && nextByte < load<u8>(key + <usize>shared)) return 0;

  if (!leave(shared, nextByte)) return 0;
  memory.copy(key + <usize>shared, start + <usize>shared, <usize>(length - shared));
  keyLength = length;
  const last = load<u8>(key + <usize>(length - 1));
  const isWildcard = last == STAR;
  if (shared <= hostEnd + 1 || hostEnd == NONE) {
    hostEnd = findHostEnd(length);
    if (hostEnd == NONE) {
      if (!isWildcard || length < 3 || load<u8>(key + <usize>(length - 2)) != COMMA) return 0;
      if (!takeWildcard(shared, length - 2, length - 2, <f64>count)) return 0;
      return appendLine(start, lineEnd) ? lineEnd : 0;
    }
    // `X,*)/p`, and `com,cnn)` as older maps have it.
    if (hostEnd + 1 == length) return 0;
    if (hostEnd >= 1 && load<u8>(key + <usize>(hostEnd - 1)) == STAR) return 0;
  }
  if (isWildcard && load<u8>(key + <usize>(length - 2)) == SLASH) {
    if (!takeWildcard(shared, hostEnd, length - 2, <f64>count)) return 0;
  } else if (hostEnd + 2 == length) {
    const root = enter(shared, hostEnd, hostEnd + 1);
    if (root == NONE) return 0;
    const pointer = node(root);
    store<f64>(pointer, load<f64>(pointer, TOTAL) + <f64>count, TOTAL);
    markPresent(root);
  } else if (!takePage(shared, length, <f64>count)) {
    return 0;
  }
  return appendLine(start, lineEnd) ? lineEnd : 0;
}

/** Bytes that a line shares with the last key, eight at a time. */
function sharedBytes(start: usize, end: usize): i32 {
  const room = <i32>(end - start);
  const limit = keyLength < room ? keyLength : room;
  let i: i32 = 0;
  while (i + 8 <= limit) {
    const difference = load<u64>(start + <usize>i) ^ load<u64>(key + <usize>i);
    if (difference != 0) return i + <i32>(ctz(difference) >> 3);
    i += 8;
  }
  while (i < limit && load<u8>(start + <usize>i) == load<u8>(key + <usize>i)) i++;
  return i;
}

function findHostEnd(length: i32): i32 {
  for (let i = 0; i < length; i++) {
    if (load<u8>(key + <usize>i) != CLOSE_PAREN) continue;
    if (i + 1 == length || load<u8>(key + <usize>(i + 1)) == SLASH) return i;
  }
  return NONE;
}

function takePage(shared: i32, length: i32, count: f64): bool {
  let folderEnd = length - 1;
  while (load<u8>(key + <usize>folderEnd) != SLASH) folderEnd--;
  const folder = enter(shared, hostEnd, folderEnd);
  if (folder == NONE) return false;
  const depth = load<i32>(node(folder), DEPTH) + 1;
  markPresent(folder);
  if (depth >= maxPathDepth) {
    // Below the last level every row counts as a child of that level.
    const leaf = pushPath(length, depth, folder);
    if (leaf == NONE) return false;
    store<u8>(node(leaf), 1, IS_PRESENT);
    store<f64>(node(leaf), count, TOTAL);
    addChild(cappedNode(leaf));
    return true;
  }
  addChild(folder);
  leafEnd = length;
  leafParent = folder;
  leafDepth = depth;
  leafCount = count;
  leafStart = outputEnd;
  return true;
}

function takeWildcard(shared: i32, end: i32, nodesEnd: i32, count: f64): bool {
  const base = enter(shared, end, nodesEnd);
  if (base == NONE) return false;
  const pointer = node(base);
  // A second row of the same key is out of order, so there is none yet.
  store<u8>(pointer, 1, HAS_WILDCARD);
  store<f64>(pointer, count, WILDCARD_TOTAL);
  markPresent(base);
  addChild(cappedNode(base));
  return true;
}

@inline
function node(index: i32): usize {
  return nodes + <usize>index * NODE_BYTES;
}

function push(end: i32, separator: u8, layer: u8, depth: i32, parent: i32, cutoff: f64): i32 {
  if (size == MAX_NODES) return NONE;
  const pointer = node(size);
  store<i32>(pointer, end, TEXT_END);
  store<i32>(pointer, depth, DEPTH);
  store<i32>(pointer, parent, PARENT);
  store<u8>(pointer, layer, LAYER);
  store<u8>(pointer, separator, SEPARATOR);
  store<u8>(pointer, 0, IS_PRESENT);
  store<u8>(pointer, 0, HAS_WILDCARD);
  store<i32>(pointer, 0, CHILDREN);
  store<i32>(pointer, 0, IS_ROLLED_UP);
  store<f64>(pointer, cutoff, CUTOFF);
  store<f64>(pointer, 0, TOTAL);
  store<i32>(pointer, outputEnd, HEAD_START);
  store<i32>(pointer, NONE, HEAD_END);
  store<i32>(pointer, NONE, CHILDREN_START);
  return size++;
}

function pushPath(end: i32, depth: i32, parent: i32): i32 {
  return push(end, SLASH, PATH, depth, parent, pathCutoff(depth));
}

function startChildren(index: i32): void {
  store<i32>(node(index), outputEnd, HEAD_END);
  store<i32>(node(index), outputEnd, CHILDREN_START);
}

function hostCutoff(depth: i32): f64 {
  return depth < maxHostDepth ? load<f64>(hostCutoffs + (<usize>depth << 3)) : Infinity;
}

function pathCutoff(depth: i32): f64 {
  return depth < maxPathDepth ? load<f64>(pathCutoffs + (<usize>depth << 3)) : Infinity;
}

function leave(shared: i32, next: u8): bool {
  if (!settleLeaf(shared, next)) return false;
  while (size > 0 && load<i32>(node(size - 1), TEXT_END) > shared) if (!close()) return false;
  if (size == 0) return true;
  const top = node(size - 1);
  if (load<i32>(top, TEXT_END) < shared) return true;
  const separator = load<u8>(top, SEPARATOR);
  if (next > separator) return close();
  if (load<i32>(top, HEAD_END) == NONE) store<i32>(top, outputEnd, HEAD_END);
  if (next == separator && load<i32>(top, CHILDREN_START) == NONE) {
    store<i32>(top, outputEnd, CHILDREN_START);
  }
  return true;
}

function settleLeaf(shared: i32, next: u8): bool {
  if (leafEnd == NONE) return true;
  const end = leafEnd;
  leafEnd = NONE;
  let index = leafParent;
  if (end == shared && next <= SLASH) {
    index = pushPath(end, leafDepth, leafParent);
    if (index == NONE) return false;
    store<i32>(node(index), leafStart, HEAD_START);
    store<u8>(node(index), 1, IS_PRESENT);
  }
  const pointer = node(index);
  store<f64>(pointer, load<f64>(pointer, TOTAL) + leafCount, TOTAL);
  return true;
}

function enter(shared: i32, end: i32, nodesEnd: i32): i32 {
  let index = ancestor(nodesEnd);
  let at: i32 = index == NONE ? 0 : load<i32>(node(index), TEXT_END);
  if (at < end) {
    let depth: i32 = index == NONE ? 0 : load<i32>(node(index), DEPTH);
    at = at + 1 > shared ? at + 1 : shared;
    for (; at <= end; at++) {
      if (at < end && load<u8>(key + <usize>at) != COMMA) continue;
      if (at == 0) continue;
      depth++;
      index = push(at, COMMA, HOST, depth, index, hostCutoff(depth));
      if (index == NONE) return NONE;
      if (load<u8>(key + <usize>at) == COMMA) startChildren(index);
    }
    at = end;
  }
  if (nodesEnd <= end) return index;
  if (at == end) {
    at = end + 1;
    index = push(at, SLASH, ROOT, 1, index, pathCutoff(1));
    if (index == NONE) return NONE;
    startChildren(index);
  }
  let depth = load<i32>(node(index), DEPTH);
  at = at + 1 > shared ? at + 1 : shared;
  for (; at <= nodesEnd; at++) {
    if (at < nodesEnd && load<u8>(key + <usize>at) != SLASH) continue;
    depth++;
    index = pushPath(at, depth, index);
    if (index == NONE) return NONE;
    startChildren(index);
  }
  return index;
}

function ancestor(nodesEnd: i32): i32 {
  for (let index = size - 1; index >= 0; index--) {
    const pointer = node(index);
    const textEnd = load<i32>(pointer, TEXT_END);
    if (textEnd > nodesEnd) continue;
    if (textEnd == nodesEnd) return index;
    const next = load<u8>(key + <usize>textEnd);
    if (next == load<u8>(pointer, SEPARATOR)) return index;
    if (next == CLOSE_PAREN && load<u8>(pointer, LAYER) == HOST) return index;
  }
  return NONE;
}

function cappedNode(index: i32): i32 {
  const isHost = load<u8>(node(index), LAYER) == HOST;
  const last = (isHost ? maxHostDepth : maxPathDepth) - 1;
  let capped = index;
  while (load<i32>(node(capped), DEPTH) > last && load<i32>(node(capped), PARENT) != NONE) {
    const parent = load<i32>(node(capped), PARENT);
    if ((load<u8>(node(parent), LAYER) == HOST) != isHost) break;
    capped = parent;
  }
  return capped;
}

function markPresent(from: i32): void {
  let index = from;
  while (index != NONE) {
    const pointer = node(index);
    if (load<u8>(pointer, IS_PRESENT) == 1) return;
    store<u8>(pointer, 1, IS_PRESENT);
    const parent = load<i32>(pointer, PARENT);
    if (parent != NONE) {
      const layer = load<u8>(pointer, LAYER);
      if (layer == PATH) {
        if (load<i32>(pointer, DEPTH) < maxPathDepth) addChild(parent);
      } else if (layer == ROOT) {
        if (load<i32>(node(parent), DEPTH) >= maxHostDepth) addChild(cappedNode(parent));
      } else if (load<i32>(pointer, DEPTH) < maxHostDepth) {
        addChild(parent);
      }
    }
    index = parent;
  }
}

function addChild(index: i32): void {
  const pointer = node(index);
  const children = load<i32>(pointer, CHILDREN) + 1;
  store<i32>(pointer, children, CHILDREN);
  if (<f64>children > load<f64>(pointer, CUTOFF) && load<i32>(pointer, IS_ROLLED_UP) == 0) {
    rollUp(index);
  }
}

/** Takes back the rows of a node. What others wrote between its own row and its children moves up. */
function rollUp(index: i32): void {
  const pointer = node(index);
  store<i32>(pointer, 1, IS_ROLLED_UP);
  rollUpCount++;
  if (rolledUp != NONE && rolledUp < index) return;
  rolledUp = index;
  const headStart = load<i32>(pointer, HEAD_START);
  const headEnd = load<i32>(pointer, HEAD_END) == NONE ? outputEnd : load<i32>(pointer, HEAD_END);
  const childrenStart =
    load<i32>(pointer, CHILDREN_START) == NONE ? outputEnd : load<i32>(pointer, CHILDREN_START);
  const between = childrenStart - headEnd;
  memory.copy(output + <usize>headStart, output + <usize>headEnd, <usize>between);
  outputEnd = headStart + between;
  store<i32>(pointer, headStart, HEAD_END);
  store<i32>(pointer, outputEnd, CHILDREN_START);
}

function close(): bool {
  const index = size - 1;
  const pointer = node(index);
  size = index;
  if (load<u8>(pointer, IS_PRESENT) == 0) return true;
  const total =
    load<u8>(pointer, HAS_WILDCARD) == 1
      ? load<f64>(pointer, WILDCARD_TOTAL)
      : load<f64>(pointer, TOTAL);
  if (total > MAX_TOTAL) return false;
  if (index == rolledUp) {
    rolledUp = NONE;
    if (!appendRollUp(load<i32>(pointer, TEXT_END), load<u8>(pointer, SEPARATOR), <u64>total)) {
      return false;
    }
  }
  const parent = load<i32>(pointer, PARENT);
  if (parent != NONE) {
    store<f64>(node(parent), load<f64>(node(parent), TOTAL) + total, TOTAL);
  }
  return true;
}

function appendRollUp(textEnd: i32, separator: u8, total: u64): bool {
  if (!makeRoom(textEnd + 32)) return false;
  let at = output + <usize>outputEnd;
  memory.copy(at, key, <usize>textEnd);
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
  return true;
}

function appendLine(start: usize, end: usize): bool {
  if (rolledUp != NONE) return true;
  const length = <i32>(end - start);
  if (!makeRoom(length)) return false;
  memory.copy(output + <usize>outputEnd, start, <usize>length);
  outputEnd += length;
  return true;
}

/** Hands out what is decided when there is much of it; false if the rest leaves no room. */
function makeRoom(bytes: i32): bool {
  if (outputEnd >= RELEASE_BYTES) release();
  return outputEnd + bytes <= OUTPUT_BYTES;
}

function release(): void {
  let decided = outputEnd;
  for (let index = 0; index < size; index++) {
    const pointer = node(index);
    if (load<f64>(pointer, CUTOFF) == Infinity) continue;
    decided = load<i32>(pointer, HEAD_START);
    break;
  }
  if (leafEnd != NONE && leafStart < decided) decided = leafStart;
  if (decided < outputEnd / 2) return;
  write(output, decided);
  const left = outputEnd - decided;
  memory.copy(output, output + <usize>decided, <usize>left);
  outputEnd = left;
  leafStart -= decided;
  for (let index = 0; index < size; index++) {
    const pointer = node(index);
    shift(pointer + HEAD_START, decided);
    shift(pointer + HEAD_END, decided);
    shift(pointer + CHILDREN_START, decided);
  }
}

/** Positions count from the start of the output that is held. */
function shift(pointer: usize, by: i32): void {
  const position = load<i32>(pointer);
  if (position != NONE) store<i32>(pointer, position > by ? position - by : 0);
}
