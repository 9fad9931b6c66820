import { open } from "node:fs/promises";
import { join } from "node:path";
import { countLines, standsAt } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { FileSource } from "../../files/input-file.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { checkSize, formatHeaders, isJsonObject, UkvsHeaders } from "../../ukvs/header.ts";
import { RowInserter } from "../compact/budget/budget-compaction.ts";
import { nodeName } from "../compact/budget/budget-survey.ts";
import { type ChosenNodes, headOf, siteLength } from "../compact/run/compact-files.ts";
import { compactPart, type CompactTask } from "../compact/run/compact-part.ts";
import { parseWeights } from "../compact/weight-policy.ts";
import { type MapHead, withoutPageMark } from "../lookup/map-head.ts";
import { type PartMark, partMark } from "../lookup/part-mark.ts";
import { concatenate, lineBlocks, type RowsStretch, rowsWithPrefix } from "./rows-stretch.ts";

/** A part of a map in a file. */
export interface PartFile {
  readonly source: FileSource;
  readonly head: MapHead;
  readonly mark: PartMark;
}

/** The parts of a map, and what its rows are: for each part, those that begin in it. */
export interface JoinedParts {
  readonly headers: UkvsHeaders;
  readonly pages: readonly (readonly RowsStretch[])[];
  /** Sites that were cut, and compacted once more. */
  readonly sites: number;
}

/**
 * Opens the parts of a map, in their order.
 *
 * @throws MM_BAD_INPUT for what is no part, and for parts that do not belong together or are not all there
 */
export async function openParts(sources: readonly FileSource[]): Promise<PartFile[]> {
  const parts: PartFile[] = [];
  for (const source of sources) {
    const head = await headOf(source);
    const mark = partMark(head.headers, source.name);
    if (mark === undefined) {
      throw fault(source.name, "is not a part of a map; combine makes parts of runs, with --range");
    }
    checkSize(head.headers.size, { bytes: source.size - head.bodyOffset }, source.name);
    parts.push({ source, head, mark });
  }
  const inOrder = parts.toSorted((a, b) => a.mark.number - b.mark.number);
  const [first] = inOrder;
  for (const [i, part] of inOrder.entries()) checkPlace(part, i + 1, first);
  const { of } = first.mark;
  if (inOrder.length < of) throw missing(first, inOrder.length + 1);
  return inOrder;
}

function checkPlace({ source, mark }: PartFile, number: number, first: PartFile): void {
  const { of, compacted } = first.mark;
  if (mark.of !== of) {
    throw fault(
      source.name,
      `is part ${mark.number} of ${mark.of}, and ${first.source.name} of ${of}`,
    );
  }
  if (mark.number > number) throw missing(first, number);
  if (mark.number < number) throw fault(source.name, `part ${mark.number} is given twice`);
  if (JSON.stringify(mark.compacted) !== JSON.stringify(compacted)) {
    throw fault(
      source.name,
      `is compacted otherwise than ${first.source.name}; compact all parts with the same options`,
    );
  }
}

function missing({ source, mark }: PartFile, number: number): MementoMapError {
  return fault(
    source.name,
    `part ${number} of ${mark.of} is missing; give every part of the map once`,
  );
}

function fault(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source } });
}

export interface JoinOptions {
  readonly interrupt?: Interrupt | undefined;
  /** What parts were compacted by, where it was a plan, and the rows with 0 that it adds. */
  readonly plan?: (ChosenNodes & { readonly exclusions: readonly Uint8Array[] }) | undefined;
}

/** How to compact what was left open. @throws MM_USAGE for another plan than that of the parts. */
function rollUpRule(
  { source }: PartFile,
  compacted: Readonly<Record<string, unknown>>,
  plan: ChosenNodes | undefined,
): Pick<CompactTask, "weights" | "chosen"> {
  if (compacted["plan"] === plan?.digest) {
    return plan === undefined
      ? { weights: parseWeights(compacted) }
      : { weights: {}, chosen: plan.chosen };
  }
  throw new MementoMapError(
    "MM_USAGE",
    plan === undefined
      ? "is compacted by a plan; give it with --plan"
      : "is not compacted by this plan; give --plan the one that compact had",
    { position: { source: source.name } },
  );
}

/**
 * Joins the parts of a map. Where a site was cut and the parts are compacted, its rows are compacted
 * once more, all together; all other rows are as they are in the parts.
 *
 * @param scratch the folder for the rows of such sites.
 */
export async function joinParts(
  parts: readonly PartFile[],
  scratch: string,
  options: JoinOptions = {},
): Promise<JoinedParts> {
  const { interrupt, plan } = options;
  const headers = joinHeaders(
    parts.map(({ source, head }) => ({ name: source.name, headers: head.headers })),
  );
  checkCuts(parts);
  const bodies = parts.map(bodyOf);
  const { compacted } = parts[0].mark;
  if (compacted === undefined) {
    return { headers, pages: bodies.map((body) => [body]), sites: 0 };
  }
  const rule = rollUpRule(parts[0], compacted, plan);
  const pages = bodies.map((): RowsStretch[] => []);
  const rest = [...bodies];
  let sites = 0;
  for (const site of cutSites(parts, plan?.chosen)) {
    checkSignal(interrupt?.signal);
    const found = rest.map((body) => rowsWithPrefix(body, site));
    const touched = found.flatMap((rows, page) => (rows.start < rows.end ? [page] : []));
    if (touched.length === 0) continue;
    const path = join(scratch, `site-${sites}`);
    const end = concatenate(
      touched.map((page) => found[page]),
      path,
    );
    const target = `${path}.compact`;
    const task = { path, source: path, start: 0, end, fields: headers.fields, target };
    const { bytes, rowsWritten } = compactPart({ ...task, ...rule });
    sites++;
    for (const page of touched) {
      pages[page].push(until(rest[page], found[page].start));
      rest[page] = { ...rest[page], start: found[page].end, records: undefined };
    }
    pages[touched[0]].push({ path: target, start: 0, end: bytes, records: rowsWritten });
  }
  for (const [page, body] of rest.entries()) pages[page].push(body);
  const { exclusions = [] } = plan ?? {};
  if (exclusions.length === 0) return { headers, pages, sites };
  return { headers, pages: await withRowsAdded(pages, exclusions, scratch), sites };
}

/** The same pages with more rows, in files of the folder `scratch`. */
async function withRowsAdded(
  pages: readonly (readonly RowsStretch[])[],
  rows: readonly Uint8Array[],
  scratch: string,
): Promise<RowsStretch[][]> {
  const inserter = new RowInserter(rows);
  const written: RowsStretch[][] = [];
  for (const [i, page] of pages.entries()) {
    const path = join(scratch, `page-${i}`);
    const file = await open(path, "wx");
    let [end, records] = [0, 0];
    const write = async (block: Uint8Array): Promise<void> => {
      await file.writeFile(block);
      end += block.length;
      records += countLines(block);
    };
    try {
      for (const part of page) {
        for await (const block of lineBlocks(part, path)) await write(inserter.insertInto(block));
      }
      if (i === pages.length - 1) await write(inserter.rest());
    } finally {
      await file.close();
    }
    written.push([{ path, start: 0, end, records }]);
  }
  return written;
}

function bodyOf({ source, head }: PartFile): RowsStretch {
  const { path, size } = source;
  return { path, start: head.recordsOffset, end: size, records: head.headers.size?.records };
}

function until(rows: RowsStretch, end: number): RowsStretch {
  return { ...rows, end, records: undefined };
}

/**
 * The headers of the map. Parts say the same, but for what depends on the files they were made of:
 * when the last of these changed, and whether all keys are ours.
 */
export function joinHeaders(
  parts: readonly { readonly name: string; readonly headers: UkvsHeaders }[],
): UkvsHeaders {
  const all = parts.map(({ headers }) => withoutPageMark(headers));
  const [first] = all;
  const texts = (name: string): string[] =>
    all.map(({ meta }) => meta[name]).filter((value) => typeof value === "string");
  const changed = texts("updated_at").reduce((a, b) => (a > b ? a : b), "");
  const joined = {
    ...(changed === "" ? {} : { updated_at: changed }),
    ...(texts("canonicalization").includes("index") ? { canonicalization: "index" } : {}),
    ...(all.some(({ meta }) => meta["sample"] === true) ? { sample: true } : {}),
  };
  const told = all.map((headers) => withMeta(headers, joined));
  for (const [i, headers] of told.entries()) {
    if (formatHeaders(headers).join("\n") === formatHeaders(told[0]).join("\n")) continue;
    throw fault(
      parts[i].name,
      `has other headers than ${parts[0].name}; make all parts with the same options`,
    );
  }
  return withMeta(first, joined);
}

function withMeta(headers: UkvsHeaders, more: Readonly<Record<string, unknown>>): UkvsHeaders {
  return new UkvsHeaders(
    headers.list.map(({ name, value }) =>
      name === "meta" && isJsonObject(value)
        ? { name, value: { ...value, ...more } }
        : { name, value },
    ),
  );
}

/** @throws MM_BAD_INPUT where a part does not begin where the one before it ends. */
function checkCuts(parts: readonly PartFile[]): void {
  for (const [i, { source, mark }] of parts.entries()) {
    const before = parts[i - 1];
    if (mark.from === before?.mark.to) continue;
    throw fault(
      source.name,
      `begins at ${quote(mark.from ?? "")}, and ${before?.source.name ?? "the map"} ends at ` +
        `${quote(before?.mark.to ?? "")}; make all parts with the same cuts`,
    );
  }
}

/**
 * What the keys of sites begin with that have a cut within them, in order; none begins with another.
 * Weights roll up nothing above a site; of what a plan has chosen, a site is the highest node.
 */
function cutSites(parts: readonly PartFile[], chosen?: readonly number[]): Uint8Array[] {
  const sites: Uint8Array[] = [];
  const names = chosen === undefined ? undefined : new Set(chosen);
  for (const { mark } of parts) {
    if (mark.to === undefined) continue;
    const cut = new TextEncoder().encode(mark.to);
    const length = names === undefined ? siteLength(cut, cut.length) : chosenLength(cut, names);
    if (length === cut.length) continue;
    const site = cut.subarray(0, length);
    while (sites.length > 0 && beginsWith(sites[sites.length - 1], site)) sites.pop();
    const last = sites.at(-1);
    if (last === undefined || !beginsWith(site, last)) sites.push(site);
  }
  return sites;
}

/** How long the text of the highest chosen node is that a cut is within; that of the cut for none. */
function chosenLength(cut: Uint8Array, names: ReadonlySet<number>): number {
  for (let end = 1; end < cut.length; end++) if (names.has(nodeName(cut, end))) return end;
  return cut.length;
}

function beginsWith(text: Uint8Array, start: Uint8Array): boolean {
  return standsAt(text, 0, text.length, start);
}
