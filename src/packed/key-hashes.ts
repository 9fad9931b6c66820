import { CLOSE_PAREN, COMMA, QUESTION, SLASH } from "../bytes/bytes.ts";
import { extendA, extendB, START_A, START_B } from "./name-hash.ts";

/*
 * The names that cover a key begin with the same bytes. So one pass over the key gives the states from
 * which the hashes of all of them go on.
 */

/** The states of a hash at places of a key: both halves, and where what was hashed ends. */
export interface States {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly ends: Int32Array;
}

function states(count: number): States {
  return { a: new Int32Array(count), b: new Int32Array(count), ends: new Int32Array(count) };
}

/** More than nearly all keys have segments, or labels. */
const USUAL_COUNT = 32;

/** A key that is looked up, in one map or in many. Make one and use it again. */
export class KeyHashes {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  /** Where the `)` of the host is; -1 for a key without a host. */
  hostEnd = -1;
  /** Segments of the path; -1 as long as it is not read. */
  depth = -1;
  /** Where the query begins, with its `?`; the end if there is none. */
  queryStart = 0;
  /** The state behind the page, without its query; known when the path is. */
  pageA = 0;
  pageB = 0;
  /** The state behind the whole key. */
  wholeA = 0;
  wholeB = 0;
  /** Labels of the host; -1 as long as they are not read. */
  labelCount = -1;
  /** By depth, what is behind each segment; at 0 the host with its parenthesis. */
  folders: States = states(USUAL_COUNT);
  /** What is behind each label. */
  labels: States = states(USUAL_COUNT);

  /** Takes the key `bytes[start, end)`, which must not change as long as it is asked for. */
  read(bytes: Uint8Array, start: number, end: number): this {
    let a = START_A;
    let b = START_B;
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at];
      a = extendA(a, byte);
      b = extendB(b, byte);
      if (byte === CLOSE_PAREN && (at + 1 === end || bytes[at + 1] === SLASH)) break;
    }
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.depth = -1;
    this.labelCount = -1;
    this.hostEnd = at === end ? -1 : at;
    const { folders } = this;
    folders.a[0] = a;
    folders.b[0] = b;
    folders.ends[0] = at + 1;
    return this;
  }

  /** Reads the path, unless that was done. */
  readPath(): void {
    if (this.depth >= 0) return;
    const { bytes, end } = this;
    const { a: foldersA, b: foldersB, ends } = this.folders;
    let a = extendA(foldersA[0], SLASH);
    let b = extendB(foldersB[0], SLASH);
    let at = this.hostEnd + 2;
    let depth = 0;
    // The slash of a home page leads to no segment.
    if (at < end && bytes[at] !== QUESTION) {
      for (; at < end; at++) {
        const byte = bytes[at];
        // A slash or a question mark, which differ in this bit.
        if ((byte | 0x10) === QUESTION) {
          if (byte === QUESTION) break;
          depth++;
          if (depth >= ends.length) return this.#readDeepPath();
          foldersA[depth] = a;
          foldersB[depth] = b;
          ends[depth] = at;
        }
        a = extendA(a, byte);
        b = extendB(b, byte);
      }
      depth++;
      if (depth >= ends.length) return this.#readDeepPath();
      foldersA[depth] = a;
      foldersB[depth] = b;
      ends[depth] = at;
    }
    this.depth = depth;
    this.queryStart = at < end ? at : end;
    this.pageA = a;
    this.pageB = b;
    for (; at < end; at++) {
      const byte = bytes[at];
      a = extendA(a, byte);
      b = extendB(b, byte);
    }
    this.wholeA = a;
    this.wholeB = b;
  }

  #readDeepPath(): void {
    this.folders = enlarged(this.folders);
    this.readPath();
  }

  /** Reads the labels of the host, unless that was done. */
  readLabels(): void {
    if (this.labelCount >= 0) return;
    const { bytes, hostEnd } = this;
    let { labels } = this;
    let [a, b, count] = [START_A, START_B, 0];
    for (let at = this.start; at <= hostEnd; at++) {
      const byte = bytes[at];
      if (byte === COMMA || at === hostEnd) {
        if (count === labels.ends.length) labels = enlarged(labels);
        labels.a[count] = a;
        labels.b[count] = b;
        labels.ends[count] = at;
        count++;
      }
      a = extendA(a, byte);
      b = extendB(b, byte);
    }
    this.labels = labels;
    this.labelCount = count;
  }
}

function enlarged(old: States): States {
  const larger = states(2 * old.ends.length);
  larger.a.set(old.a);
  larger.b.set(old.b);
  larger.ends.set(old.ends);
  return larger;
}
