import type { Writable } from "node:stream";
import { join } from "node:path";
import { joinBytes, LF } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { type InputStreams, openInput } from "../../files/input-file.ts";
import { withOutput } from "../../files/output-file.ts";
import { ScratchSpill, type SpillStore, withTempDir } from "../../files/scratch.ts";
import type { Interrupt } from "../../interruption.ts";
import { type Header, UkvsHeaders } from "../../ukvs/header.ts";
import { type Branch, FIELD, type Survey } from "../compact/budget/budget-survey.ts";
import {
  COUNTS,
  type OpenSurveyNode,
  SurveyNode,
  TreeSurvey,
} from "../compact/budget/tree-survey.ts";
import { LAYER } from "../compact/key-tree.ts";
import { MapLines } from "../compact/map-lines.ts";
import { type MissesFile, readMisses } from "../compact/run/budget-files.ts";
import { edgesOf, headOf } from "../compact/run/compact-files.ts";
import { withMapSources } from "../lookup/map-sources.ts";
import { type PartMark, partMark } from "../lookup/part-mark.ts";
import { lineBlocks } from "./rows-stretch.ts";

/*
 * The survey of a part of a map, in a file: a line of JSON, and then the records of its nodes, each as
 * numbers of 8 bytes. Nodes that a cut is within are in the JSON.
 */

/** The numbers of a record that a survey counts; the others are found by a plan. */
const RECORD = ["slot", "parent", "name", "layer", "isSuffix", ...COUNTS] as const;
const RECORD_BYTES = 8 * RECORD.length;

/** What one part has, beside the records of its nodes. */
interface PartSurvey {
  readonly partialSurvey: 1;
  readonly part: PartMark;
  readonly headers: readonly Header[];
  readonly records: number;
  readonly slots: number;
  readonly fixedRows: number;
  readonly heldRows: number;
  readonly topSingles: number;
  readonly singleHosts: number;
  readonly singleFamilies: number;
  readonly hasWildcards: boolean;
  readonly openNodes: readonly OpenSurveyNode[];
  /** Branches of the nodes that have a record, with its number. */
  readonly branches: readonly (readonly [record: number, branch: Branch])[];
  /** How many missed lookups there are, in all parts. */
  readonly misses: number;
}

const TOTALS = ["fixedRows", "heldRows", "topSingles", "singleHosts"] as const;

/** A file that begins so is the survey of a part. */
export const SURVEY_START = '{"partialSurvey":';

export interface PartSurveyOptions {
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  readonly stdout: Writable;
  /** Lookups that missed, the same for all parts. */
  readonly misses?: MissesFile | undefined;
}

/**
 * Surveys a part of a map for a budget, and writes what was found to the file `output`. Returns how many
 * rows there are.
 *
 * @throws MM_BAD_INPUT for what is no part; MM_USAGE for maps with queries or more key columns
 */
export async function surveyPart(
  path: string,
  output: string | undefined,
  options: PartSurveyOptions,
): Promise<number> {
  const { scratch: tmp, streams, interrupt, stdout } = options;
  const misses =
    options.misses === undefined
      ? undefined
      : await readMisses(options.misses, { ...streams, interrupt });
  return withMapSources([path], { io: { ...streams, interrupt }, tmp }, ([source]) =>
    withTempDir({ parent: tmp, interrupt }, async (scratch) => {
      const { name } = source;
      const { headers, recordsLine, recordsOffset } = await headOf(source);
      const part = partMark(headers, name);
      if (part === undefined) throw fault(name, "is not a part of a map; give the size with it");
      if (headers.fields.keys.length > 1 || headers.fields.queries === true) {
        throw new MementoMapError(
          "MM_USAGE",
          "maps with queries or datetimes get their size on one machine: combine the parts first",
          { position: { source: name } },
        );
      }
      const spill = new ScratchSpill(join(scratch, "nodes"));
      try {
        const survey = new TreeSurvey({ edges: edgesOf(part), spill, misses });
        const lines = new MapLines(survey, headers.fields);
        const place = { source: name, firstLine: recordsLine };
        const rows = { path: source.path, start: recordsOffset, end: source.size };
        for await (const block of lineBlocks(rows, name, interrupt?.signal)) {
          lines.read(block, place);
        }
        survey.end();
        const { table } = survey;
        const said: PartSurvey = {
          partialSurvey: 1,
          part,
          headers: headers.list,
          records: table.size,
          slots: table.slots,
          fixedRows: survey.fixedRows,
          heldRows: survey.heldRows,
          topSingles: survey.topSingles,
          singleHosts: survey.singleHosts,
          singleFamilies: survey.singleFamilies,
          hasWildcards: survey.hasWildcards,
          openNodes: survey.openNodes,
          branches: survey.branches.list(),
          misses: misses?.count ?? 0,
        };
        await withOutput(output, { stdout, interrupt }, async (target) => {
          await target.write(Buffer.from(`${JSON.stringify(said)}\n`));
          const pages: Uint8Array[] = [];
          table.forEachPage((page, _, count) => pages.push(recordsOf(page, count)));
          for (const page of pages) await target.write(page);
        });
        return lines.rows;
      } finally {
        spill.close();
      }
    }),
  );
}

function recordsOf(page: Float64Array, count: number): Uint8Array {
  const numbers = new Float64Array(count * RECORD.length);
  for (let at = 0; at < count; at++) {
    for (const [i, field] of RECORD.entries()) {
      numbers[at * RECORD.length + i] = page[at + FIELD[field]];
    }
  }
  return new Uint8Array(numbers.buffer);
}

function fault(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source } });
}

/** The survey of a part, opened. */
export interface OpenedSurvey extends PartSurvey {
  readonly name: string;
  /** The bytes behind the line of JSON. */
  readonly rest: AsyncIterable<Uint8Array>;
}

/** Opens the survey of a part. @throws MM_BAD_INPUT, MM_IO */
export async function openSurvey(
  path: string,
  streams: InputStreams & { readonly interrupt?: Interrupt | undefined },
): Promise<OpenedSurvey> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const chunks = input.chunks[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) throw fault(input.name, "is not the survey of a part");
    read.push(next.value);
    if (next.value.includes(LF)) break;
  }
  const bytes = joinBytes(read);
  const feed = bytes.indexOf(LF);
  const text = new TextDecoder().decode(bytes.subarray(0, feed));
  if (!text.startsWith(SURVEY_START)) throw fault(input.name, "is not the survey of a part");
  const rest = async function* records(): AsyncGenerator<Uint8Array, void, undefined> {
    yield bytes.subarray(feed + 1);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      yield next.value;
    }
  };
  // What surveyPart wrote.
  return { ...(JSON.parse(text) as PartSurvey), name: input.name, rest: rest() };
}

/** Headers as a survey has them. */
export function surveyHeaders(survey: PartSurvey): UkvsHeaders {
  return new UkvsHeaders(survey.headers);
}

/**
 * Joins the surveys of all parts, in their order: the survey of the whole map, number by number.
 *
 * A node that a cut is within is put together of what each part has of it, and closed where the walk
 * through the whole map would close it.
 */
export async function joinSurveys(
  parts: readonly OpenedSurvey[],
  spill: SpillStore,
): Promise<Survey> {
  const whole = new TreeSurvey({ spill });
  const joiner = new SurveyJoiner(whole, Math.max(...parts.map(({ slots }) => slots)) + 1);
  for (const part of parts) await joiner.add(part);
  return whole;
}

class SurveyJoiner {
  readonly #whole: TreeSurvey;
  /** Nodes that are open, by their text. */
  readonly #open = new Map<string, SurveyNode>();
  #nextSlot: number;

  /** @param firstSlot larger than that of any record of a part. */
  constructor(whole: TreeSurvey, firstSlot: number) {
    this.#whole = whole;
    this.#nextSlot = firstSlot;
  }

  async add(part: OpenedSurvey): Promise<void> {
    const whole = this.#whole;
    for (const total of TOTALS) whole[total] += part[total];
    whole.hasWildcards ||= part.hasWildcards;
    // The logarithms of one row and one child are 0.
    whole.heaps.hosts += part.singleFamilies;
    const nodes = this.#nodesOf(part.openNodes);
    let nextBranch = 0;
    const closing = part.openNodes.filter(({ closedAt }) => closedAt !== undefined);
    let [record, closed] = [0, 0];
    const closeBefore = (at: number): void => {
      for (; closed < closing.length && (closing[closed].closedAt ?? 0) <= at; closed++) {
        this.#close(closing[closed]);
      }
    };
    for await (const numbers of recordsIn(part)) {
      closeBefore(record);
      this.#addRecord(numbers, nodes);
      for (; part.branches[nextBranch]?.[0] === record; nextBranch++) {
        whole.branches.add(whole.table.size - 1, part.branches[nextBranch][1]);
      }
      record++;
    }
    closeBefore(Number.POSITIVE_INFINITY);
    for (const node of part.openNodes) if (node.closedAt === undefined) this.#addCounts(node);
  }

  /** The nodes that records of a part may name as their parents. */
  #nodesOf(openNodes: readonly OpenSurveyNode[]): Map<number, SurveyNode> {
    const nodes = new Map<number, SurveyNode>();
    for (const open of openNodes.toSorted((a, b) => a.text.length - b.text.length)) {
      const { text, layer, depth, parentEnd, slot } = open;
      let node = this.#open.get(text);
      if (node === undefined) {
        const parent =
          parentEnd === undefined ? undefined : this.#open.get(text.slice(0, parentEnd));
        node = new SurveyNode({ index: 0, textEnd: text.length, layer, depth, parent });
        node.slot = this.#nextSlot++;
        this.#open.set(text, node);
      }
      nodes.set(slot, node);
    }
    return nodes;
  }

  #addCounts(open: OpenSurveyNode): SurveyNode {
    const node = this.#open.get(open.text) as SurveyNode; // made by #nodesOf
    for (const count of COUNTS) node[count] += open[count];
    node.isSuffix ||= open.isSuffix;
    node.hasQueries ||= open.hasQueries;
    node.earlyMisses += open.earlyMisses;
    if (open.misses > 0) node.miss = open.miss;
    for (const branch of open.branches) node.branches.push(branch);
    return node;
  }

  #close(open: OpenSurveyNode): void {
    const node = this.#addCounts(open);
    this.#open.delete(open.text);
    this.#whole.settle(node, Buffer.from(open.text, "latin1"));
  }

  #addRecord(numbers: Float64Array, nodes: ReadonlyMap<number, SurveyNode>): void {
    const { table, heaps } = this.#whole;
    const page = table.push();
    const at = table.lastOffset;
    for (const [i, field] of RECORD.entries()) page[at + FIELD[field]] = numbers[i];
    const parent = page[at + FIELD.parent];
    if (parent < 0) page[at + FIELD.parent] = nodes.get(parent)?.slot ?? 0;
    const children = page[at + FIELD.children];
    const isHost = page[at + FIELD.layer] === LAYER.root;
    if (isHost && children > 0) heaps.add(page[at + FIELD.keys], children);
  }
}

/** The records of a part; the numbers are valid until the next is asked for. */
async function* recordsIn(part: OpenedSurvey): AsyncGenerator<Float64Array, void, undefined> {
  const numbers = new Float64Array(RECORD.length);
  const target = new Uint8Array(numbers.buffer);
  let [filled, records] = [0, 0];
  for await (const chunk of part.rest) {
    for (let at = 0; at < chunk.length;) {
      const taken = Math.min(RECORD_BYTES - filled, chunk.length - at);
      target.set(chunk.subarray(at, at + taken), filled);
      at += taken;
      filled += taken;
      if (filled < RECORD_BYTES) break;
      filled = 0;
      records++;
      yield numbers;
    }
  }
  if (filled === 0 && records === part.records) return;
  throw new MementoMapError(
    "MM_CUT",
    "the survey is cut short: records are missing; create it again",
    {
      position: { source: part.name },
    },
  );
}
