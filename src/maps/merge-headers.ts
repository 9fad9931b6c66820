import { compareBytes } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import { formatHeader, formatJson, type Header, SIZE_HEADER, UkvsHeaders } from "../ukvs/header.ts";

/** The parts of a map that are needed to merge headers. */
interface Headed {
  readonly name: string;
  readonly headers: UkvsHeaders;
}

const MERGED_FROM = "merged_from";
const encoder = new TextEncoder();

/** Headers that are rebuilt for the merged map; all others are kept. */
const REBUILT: ReadonlySet<string> = new Set([
  "context",
  "fields",
  "id",
  "keys",
  "meta",
  SIZE_HEADER,
]);

/**
 * Merges the headers of maps; those of a single map stay unchanged.
 *
 * Headers common to all maps stay. Where `!id` or a member of `!meta` differs, `merged_from` in
 * `!meta` lists the values of each map, in byte order; `updated_at` becomes the latest. All other
 * headers are kept. The order of the maps does not matter.
 *
 * @throws MM_BAD_INPUT when maps have different columns, or state different contexts.
 */
export function mergeHeaders(maps: readonly Headed[]): UkvsHeaders {
  const [first, ...others] = maps;
  if (first === undefined) throw new MementoMapError("MM_USAGE", "there is no map to merge");
  if (others.length === 0) return first.headers;
  for (const other of others) {
    requireSame("fields", first, other, ({ fields }) => [fields.keys, fields.values]);
    requireSameQueries(first, other);
  }
  const [withContext, ...alsoWithContext] = maps.filter(
    ({ headers }) => headers.context.length > 0,
  );
  for (const other of alsoWithContext) {
    if (withContext !== undefined) requireSame("context", withContext, other, (h) => h.context);
  }

  const all = maps.map(({ headers }) => headers);
  const given = all.flatMap(({ list }) => list);
  const { fields, id } = first.headers;
  const meta = mergeMeta(all);
  const list = given.filter(({ name }) => !REBUILT.has(name));
  if (withContext !== undefined) list.push({ name: "context", value: withContext.headers.context });
  if (all.some(({ namesFields }) => namesFields)) {
    const queries = fields.queries === true ? { queries: true } : {};
    list.push({ name: "fields", value: { keys: fields.keys, values: fields.values, ...queries } });
  }
  if (id !== undefined && all.every((headers) => headers.id === id)) {
    const ids = distinct(given.filter(({ name }) => name === "id"));
    list.push(...(ids.length === 1 ? ids : [{ name: "id", value: { uri: id } }]));
  }
  if (Object.keys(meta).length > 0) list.push({ name: "meta", value: meta });
  return new UkvsHeaders(distinct(list));
}

function mergeMeta(all: readonly UkvsHeaders[]): Record<string, unknown> {
  const names = [...new Set(all.flatMap(({ meta }) => Object.keys(meta)))]
    .filter((name) => name !== MERGED_FROM)
    .sort(byBytes);
  const isShared = (name: string): boolean =>
    all.every(
      ({ meta }) =>
        Object.hasOwn(meta, name) && formatJson(meta[name]) === formatJson(all[0].meta[name]),
    );
  const shared = names.filter(isShared);
  const members = shared.map((name): [string, unknown] => [name, all[0].meta[name]]);
  const latest = shared.includes("updated_at") ? undefined : latestUpdate(all);
  if (latest !== undefined) members.push(["updated_at", latest]);
  // If one map is a sample, absence from the merged map proves nothing either.
  const isSample = all.some(({ meta }) => meta["sample"] === true);
  if (isSample && !shared.includes("sample")) members.push(["sample", true]);
  const origins = originsOf(
    all,
    names.filter((name) => !isShared(name)),
  );
  if (origins.length > 0) members.push([MERGED_FROM, origins]);
  return Object.fromEntries(members.sort(([a], [b]) => byBytes(a, b)));
}

/** The values in which maps differ, per map, in byte order, including those of earlier merges. */
function originsOf(all: readonly UkvsHeaders[], names: readonly string[]): unknown[] {
  const hasOneId = all.every(({ id }) => id === all[0].id);
  const origins = all.flatMap(({ id, meta }) => {
    const earlier = meta[MERGED_FROM];
    if (Array.isArray(earlier)) return earlier as unknown[];
    const own = names
      .filter((name) => Object.hasOwn(meta, name))
      .map((name) => [name, meta[name]] as const);
    const isNamed = id !== undefined && (!hasOneId || own.length > 0);
    const origin = Object.fromEntries([...(isNamed ? [["uri", id] as const] : []), ...own]);
    return Object.keys(origin).length === 0 ? [] : [origin];
  });
  return [...new Set(origins.map(formatJson))]
    .sort(byBytes)
    .map((text) => JSON.parse(text) as unknown);
}

function latestUpdate(all: readonly UkvsHeaders[]): string | undefined {
  return all
    .map(({ meta }) => meta["updated_at"])
    .filter((time) => typeof time === "string")
    .sort(byBytes)
    .at(-1);
}

function distinct(list: readonly Header[]): Header[] {
  const byLine = new Map(list.map((header) => [formatHeader(header), header]));
  return [...byLine].sort(([a], [b]) => byBytes(a, b)).map(([, header]) => header);
}

function requireSame(
  name: string,
  a: Headed,
  b: Headed,
  part: (headers: UkvsHeaders) => unknown,
): void {
  const [left, right] = [a, b].map(({ headers }) => formatJson(part(headers)));
  if (left === right) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `its ${name} are ${quote(right ?? "")}, those of ${a.name} are ${quote(left ?? "")}; only maps with the same ${name} can be merged`,
    { position: { source: b.name } },
  );
}

function requireSameQueries(a: Headed, b: Headed): void {
  const [left, right] = [a, b].map(({ headers }) => headers.fields.queries === true);
  if (left === right) return;
  const [withQueries, without] = left ? [a, b] : [b, a];
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `its keys have no queries, those of ${withQueries.name} do; regenerate one of them, with or without --queries`,
    { position: { source: without.name } },
  );
}

function byBytes(a: string, b: string): number {
  return compareBytes(encoder.encode(a), encoder.encode(b));
}
