import { MementoMapError } from "../../errors.ts";
import { isJsonObject } from "../../ukvs/header.ts";
import { RECALL_WIDTH } from "./archive-recalls.ts";
import { Learner, type LearningMark, type LearntArchive } from "./learner.ts";
import { COUNTS, HITS, LOOKUPS, PER_BYTE, REPEATS, STATES } from "./evidence.ts";
import { EPOCH } from "./prefix-table.ts";
import { BY_CLASS, CLASSES } from "./recall-policy.ts";

/*
 * What a learner knows, as bytes:
 *
 *     "mmlearn3"  length of the head (u32)  head (JSON)  parts  checksum (u32)
 *
 * The head names the archives and how long each part is. Numbers are little-endian. Slots of tables
 * are written without the empty ones, so that a table of another size can take them.
 */
const MAGIC = "mmlearn3";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

interface Head {
  readonly archives: readonly string[];
  readonly recall: number;
  readonly observations: number;
  readonly lookups: number;
  readonly history: readonly LearningMark[];
  readonly prefixes: number;
  readonly originals: number;
  readonly wordsPerSlot: number;
  /** Bytes of the text of names. */
  readonly names: number;
  readonly maps: Readonly<Record<string, unknown>>;
  readonly taken: readonly string[];
}

/** What a learner knows, without the empty slots of its tables. */
interface Parts {
  readonly head: Head;
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  readonly totals: Float32Array;
  readonly lookups: Float32Array;
  readonly counts: Uint16Array;
  readonly epochs: Uint16Array;
  readonly answerHighs: Uint32Array;
  readonly answerLows: Uint32Array;
  readonly words: Uint32Array;
  readonly answerEpochs: Uint16Array;
  readonly answerLookups: Uint8Array;
  readonly model: readonly Float64Array[];
  readonly policy: readonly Float64Array[];
  readonly recalls: Float64Array;
  readonly names: Uint8Array;
}

/** Work that is done in steps of a few milliseconds. */
type Steps<Result> = Generator<void, Result, undefined>;

/** Copies what a learner knows. It must not learn meanwhile; it may decide. */
function* partsOf(learner: Learner): Steps<Parts> {
  const { evidence, answers, model, policy } = learner;
  const prefixes = usedSlots(evidence.table.highs);
  yield;
  const originals = usedSlots(answers.table.highs);
  const names = learner.names.text;
  const { width } = evidence.table;
  const counts = evidence.archives * 2;
  const recordBytes = answers.table.width * 4;
  const stateBytes = Math.ceil(evidence.archives / PER_BYTE);
  const wordsPerSlot = Math.ceil(stateBytes / 4);
  const states = picked(
    answers.table.bytes,
    originals,
    recordBytes,
    STATES,
    stateBytes,
    wordsPerSlot * 4,
  );
  // Decisions are counted there.
  const counted = {
    model: model.state.map((part) => part.slice()),
    policy: policy.state.map((part) => part.slice()),
    recalls: learner.recalls.state.slice(),
  };
  const head: Head = {
    archives: learner.archives.map(({ id }) => id),
    recall: policy.recall,
    observations: learner.observations,
    lookups: policy.lookups,
    history: [...learner.history],
    prefixes: prefixes.length,
    originals: originals.length,
    wordsPerSlot,
    names: names.length,
    maps: learner.maps.state,
    taken: [...learner.taken],
  };
  return {
    head,
    highs: yield* picked(evidence.table.highs, prefixes, 1, 0),
    lows: yield* picked(evidence.table.words, prefixes, width, 0),
    totals: yield* picked(evidence.table.floats, prefixes, width, HITS, 2),
    lookups: yield* picked(evidence.table.floats, prefixes, width, LOOKUPS),
    counts: yield* picked(evidence.table.halves, prefixes, width * 2, COUNTS * 2, counts),
    epochs: yield* picked(evidence.table.halves, prefixes, width * 2, EPOCH),
    answerHighs: yield* picked(answers.table.highs, originals, 1, 0),
    answerLows: yield* picked(answers.table.words, originals, recordBytes / 4, 0),
    words: new Uint32Array((yield* states).buffer),
    answerEpochs: yield* picked(answers.table.halves, originals, recordBytes / 2, EPOCH),
    answerLookups: yield* picked(answers.table.bytes, originals, recordBytes, REPEATS),
    ...counted,
    names,
  };
}

/** All that a learner knows. Twice its size while it is made. */
export function snapshotOf(learner: Learner): Uint8Array {
  return done(snapshot(learner));
}

/**
 * The same, for programs that may not stand still: `pause` is awaited every few milliseconds of work, and what
 * is observed meanwhile is learnt afterwards.
 */
export async function snapshotInSlices(
  learner: Learner,
  pause: () => Promise<void>,
): Promise<Uint8Array> {
  const release = learner.hold();
  try {
    return await doneInSlices(snapshot(learner), pause);
  } finally {
    release();
  }
}

function* snapshot(learner: Learner): Steps<Uint8Array> {
  const { head, model, policy, ...rest } = yield* partsOf(learner);
  const { recalls, names, ...tables } = rest;
  const parts: readonly Numbers[] = [...Object.values(tables), ...model, ...policy, recalls, names];
  const headBytes = encoder.encode(JSON.stringify(head));
  const start = MAGIC.length + 4 + headBytes.length;
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, start);
  const bytes = new Uint8Array(length + 4);
  const view = new DataView(bytes.buffer);
  bytes.set(encoder.encode(MAGIC));
  view.setUint32(MAGIC.length, headBytes.length, true);
  bytes.set(headBytes, MAGIC.length + 4);
  let at = start;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
    yield;
  }
  view.setUint32(length, yield* checksum(bytes, length), true);
  return bytes;
}

/** An archive may leave the list for a day of maintenance: of as many that left, what is known is kept. */
const MOST_GONE = 4;

/** The archives of a list, and behind them some that were known and are not in it: first those that left last. */
function withGone(
  archives: readonly LearntArchive[],
  known: readonly Pick<LearntArchive, "id">[],
): LearntArchive[] {
  const listed = new Set(archives.map(({ id }) => id));
  const gone = known.filter(({ id }) => !listed.has(id)).slice(0, MOST_GONE);
  return [...archives, ...gone.map(({ id }) => ({ id, isGone: true }))];
}

/**
 * Gives a new learner what another knew. Archives go by their ids; of those that are not in its list, some are
 * kept for when they come back.
 *
 * @throws MM_BAD_INPUT for bytes that are not a whole snapshot; the learner is as it was then.
 */
export function restoreSnapshot(learner: Learner, bytes: Uint8Array, source: string): void {
  const parts = readParts(learner, bytes, source);
  const archives = withGone(
    learner.archives,
    parts.head.archives.map((id) => ({ id })),
  );
  if (archives.length === learner.archives.length) {
    done(takeParts(learner, parts));
    return;
  }
  const next = new Learner(archives, learner.options);
  done(takeParts(next, parts));
  learner.adopt(next);
  learner.maps.restore(parts.head.maps);
}

/**
 * Has a learner go on with other archives: what it knows of those that stay is kept, by their ids, also of the
 * last that left, and new ones begin with their hints. Until it is done the learner decides as before; `pause` is awaited
 * every few milliseconds of work. Holds what is known twice.
 */
export async function replaceLearntArchives(
  learner: Learner,
  archives: readonly LearntArchive[],
  pause: () => Promise<void>,
): Promise<void> {
  const all = withGone(archives, learner.archives);
  if (JSON.stringify(all) === JSON.stringify(learner.archives)) return;
  const release = learner.hold();
  try {
    const next = new Learner(all, learner.options);
    const parts = await doneInSlices(partsOf(learner), pause);
    await doneInSlices(takeParts(next, parts), pause);
    learner.adopt(next);
  } finally {
    release();
  }
}

/** Entries of a table that are taken at a time. */
const AT_A_TIME = 4096;

/** Does all steps at once. */
function done<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

async function doneInSlices<Result>(
  steps: Steps<Result>,
  pause: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}

/** Adds what another learner knew to one that is new. */
function* takeParts(learner: Learner, parts: Parts): Steps<void> {
  const { head, highs, lows, counts } = parts;
  const before = head.archives.length;
  const numbers = head.archives.map((id) => learner.numberOf(id));
  const { evidence, answers } = learner;
  const { floats, halves, width } = evidence.table;
  for (let i = 0; i < head.prefixes; i++) {
    const slot = evidence.table.obtain(highs[i], lows[i]);
    const start = slot * width;
    floats[start + HITS] = parts.totals[i * 2];
    floats[start + HITS + 1] = parts.totals[i * 2 + 1];
    floats[start + LOOKUPS] = parts.lookups[i];
    halves[start * 2 + EPOCH] = parts.epochs[i];
    for (const [old, number] of numbers.entries()) {
      if (number < 0) continue;
      const from = (i * before + old) * 2;
      const to = (start + COUNTS + number) * 2;
      halves[to] = counts[from];
      halves[to + 1] = counts[from + 1];
    }
    if (i % AT_A_TIME === 0) yield;
  }
  const { answerHighs, answerLows, words } = parts;
  for (let i = 0; i < head.originals; i++) {
    const slot = answers.table.obtain(answerHighs[i], answerLows[i]);
    for (const [old, number] of numbers.entries()) {
      const state = (words[i * head.wordsPerSlot + (old >> 4)] >>> ((old & 15) * 2)) & 3;
      if (number >= 0 && state !== 0) answers.note(slot, number, state === 2);
    }
    const start = slot * answers.table.width;
    answers.table.halves[start * 2 + EPOCH] = parts.answerEpochs[i];
    answers.table.bytes[start * 4 + REPEATS] = parts.answerLookups[i];
    if (i % AT_A_TIME === 0) yield;
  }
  learner.model.restore(parts.model, numbers);
  learner.policy.restore(parts.policy, numbers, head.lookups, head.recall);
  if (head.recall === learner.policy.recall) learner.recalls.restore(parts.recalls, numbers);
  learner.names.restore(parts.names);
  learner.maps.restore(head.maps);
  learner.noteTaken(head.taken);
  learner.observations = head.observations;
  learner.history = [...head.history];
}

/** @throws MM_BAD_INPUT */
function readParts({ model, policy }: Learner, bytes: Uint8Array, source: string): Parts {
  const { head, start } = readHead(bytes, source);
  const reader = new PartReader(bytes, start);
  const { prefixes, originals, wordsPerSlot } = head;
  const before = head.archives.length;
  // In the order of snapshotOf.
  return {
    head,
    highs: reader.take(Uint32Array, prefixes),
    lows: reader.take(Uint32Array, prefixes),
    totals: reader.take(Float32Array, prefixes * 2),
    lookups: reader.take(Float32Array, prefixes),
    counts: reader.take(Uint16Array, prefixes * before * 2),
    epochs: reader.take(Uint16Array, prefixes),
    answerHighs: reader.take(Uint32Array, originals),
    answerLows: reader.take(Uint32Array, originals),
    words: reader.take(Uint32Array, originals * wordsPerSlot),
    answerEpochs: reader.take(Uint16Array, originals),
    answerLookups: reader.take(Uint8Array, originals),
    model: model.state.map((part) =>
      reader.take(Float64Array, (part.length / (model.archives + 1)) * (before + 1)),
    ),
    policy: policy.state.map((part, i) =>
      reader.take(Float64Array, i < BY_CLASS ? before * CLASSES : part.length),
    ),
    recalls: reader.take(Float64Array, before * RECALL_WIDTH),
    names: reader.take(Uint8Array, head.names),
  };
}

function readHead(bytes: Uint8Array, source: string): { head: Head; start: number } {
  const fault = (reason: string): MementoMapError =>
    new MementoMapError("MM_BAD_INPUT", `not what was learnt: ${reason}`, { position: { source } });
  if (decoder.decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) {
    throw fault(`it does not begin with ${MAGIC}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = bytes.length - 4;
  if (length < MAGIC.length + 4 || view.getUint32(length, true) !== done(checksum(bytes, length))) {
    throw fault("it is damaged or not whole");
  }
  const headStart = MAGIC.length + 4;
  const start = headStart + view.getUint32(MAGIC.length, true);
  const head: unknown = JSON.parse(decoder.decode(bytes.subarray(headStart, start)));
  if (!isJsonObject(head)) throw fault("its head is not an object");
  // The checksum says that it is one of ours.
  return { head: head as unknown as Head, start };
}

class PartReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor({ buffer, byteOffset, length }: Uint8Array, start: number) {
    // A slice of a Buffer would be a view of its memory, and not a copy.
    this.#bytes = new Uint8Array(buffer, byteOffset, length);
    this.#at = start;
  }

  take<T extends Numbers>(
    of: { new (buffer: ArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
    length: number,
  ): T {
    const end = this.#at + length * of.BYTES_PER_ELEMENT;
    const part = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return new of(part.buffer);
  }
}

function usedSlots(highs: Uint32Array): Uint32Array {
  const slots = new Uint32Array(highs.length);
  let count = 0;
  for (let slot = 0; slot < highs.length; slot++) if (highs[slot] !== 0) slots[count++] = slot;
  return slots.slice(0, count);
}

/** Some values of each of some slots, which have `stride` of them; with zeros behind them where there is room. */
function* picked<T extends Numbers>(
  values: T,
  slots: Uint32Array,
  stride: number,
  start: number,
  width = 1,
  room = width,
): Steps<T> {
  const of = values.constructor as new (length: number) => T; // of the same kind
  const part = new of(slots.length * room);
  for (let i = 0; i < slots.length; i++) {
    const from = slots[i] * stride + start;
    for (let j = 0; j < width; j++) part[i * room + j] = values[from + j];
    if (i % AT_A_TIME === 0) yield;
  }
  return part;
}

const CHECKED_AT_A_TIME = 2 ** 20;

/** FNV-1a. */
function* checksum(bytes: Uint8Array, length: number): Steps<number> {
  let hash = 0x811c9dc5;
  for (let start = 0; start < length; start += CHECKED_AT_A_TIME) {
    const end = Math.min(length, start + CHECKED_AT_A_TIME);
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
    yield;
  }
  return hash >>> 0;
}
