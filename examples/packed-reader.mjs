// A reader of packed maps, as docs/packed.md specifies them, for browsers, extensions and Node.js.
//
//   node examples/packed-reader.mjs FILE [KEY...]    answers for the keys, or for lines of standard input
//
// A key is a SURT: `com,example)/a/b`. Maps with queries want its query, too: `com,example)/a/b?c=d`.
// The checksums find damage; a reader for files of strangers should check all of section 9.

const MAGIC = "137,77,77,80,13,10,26,10";
const [HOME, ALL, QUERY, ANY_QUERY, NONE] = [1, 2, 4, 8, 16];
const encoder = new TextEncoder();

function check(holds, part) {
  if (!holds) throw new Error(`not a packed map, or damaged: ${part}`);
}

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function mix(value) {
  let x = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

const scale = (value, size) => Math.floor(((value >>> 0) * size) / 2 ** 32);

function hash(bytes) {
  let [a, b] = [0x811c9dc5, 0x2c1b3c6d];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x85ebca6b);
  }
  const low = mix(a + Math.imul(b, 0x9e3779b1));
  return [low, mix(b ^ low)];
}

/** What a ribbon gives a name. */
function ribbonValue({ data, slots, seed, bits }, low, high) {
  const start = scale(mix(low ^ Math.imul(seed + 1, 0x9e3779b1)) ^ high, slots - 63);
  const first = mix(Math.imul(high, 0x9e3779b1) + low + seed) | 1;
  const second = mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(seed, 0xc2b2ae3d)));
  let value = 0;
  for (let i = 0, slot = start; i < 64; i++, slot++) {
    if ((((i < 32 ? first : second) >>> (i & 31)) & 1) === 0) continue;
    for (let bit = 0; bit < bits; bit++) {
      const word = data.getUint32(4 * ((slot >>> 5) * bits + bit), true);
      value ^= ((word >>> (slot & 31)) & 1) << bit;
    }
  }
  return value >>> 0;
}

/** The value of a name above its lowest bits, if these, or all, are its fingerprint. */
function find(ribbons, low, high, checkedBits) {
  if (ribbons === undefined) return undefined;
  const ribbon = ribbons[scale(mix(low ^ 0x3c6ef372), ribbons.length)];
  const value = ribbonValue(ribbon, low, high);
  const unit = 2 ** (checkedBits ?? ribbon.bits);
  const fits = value % unit === mix(low + Math.imul(high, 0x27d4eb2f)) % unit;
  return fits ? Math.floor(value / unit) : undefined;
}

/** A packed map or a delta, which may be followed by others. @throws {Error} if it is damaged */
function openPart(bytes) {
  check(bytes.length >= 32 && bytes.subarray(0, 8).join() === MAGIC, "first bytes");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = (at, count) =>
    Array.from({ length: count }, (_, i) => view.getUint32(at + 4 * i, true));
  const [version, jsonBytes, descriptorCount, shardCount, crc, dataStart] = numbers(8, 6);
  check(version === 1, `version ${version}`);
  const directory = 32 + 8 * descriptorCount;
  const json = directory + 16 * shardCount;
  check(dataStart === 8 * Math.ceil((json + jsonBytes) / 8), "preamble");
  check(dataStart <= bytes.length, "cut short");
  check(crc === crc32(bytes.subarray(32, dataStart)), "header");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(json, json + jsonBytes)));
  const descriptors = numbers(32, 2 * descriptorCount).flatMap((_, i) =>
    i % 2 === 0 ? [bytes.subarray(32 + 4 * i, 39 + 4 * i)] : [],
  );
  const filters = {}; // the ribbons of each, by its kind and, for rows, its bits
  let [shard, words] = [0, 0];
  for (const { kind, bits, shards } of header.filters) {
    const ribbons = (filters[kind === "rows" ? `rows ${bits}` : kind] = []);
    for (let i = 0; i < shards; i++, shard++) {
      const [first, slots, seed, crc] = numbers(directory + 16 * shard, 4);
      check(shard < shardCount && first === words && slots >= 64 && slots % 32 === 0, "directory");
      words += (slots / 32) * bits;
      const part = bytes.subarray(dataStart + 4 * first, dataStart + 4 * words);
      check(crc === crc32(part), `shard ${shard}, or cut short`);
      const data = new DataView(part.buffer, part.byteOffset, part.byteLength);
      ribbons.push({ data, slots, seed, bits });
    }
  }
  const halves = hash(bytes.subarray(0, dataStart));
  const mark = halves.map((half) => half.toString(16).padStart(8, "0")).join("");
  return { header, descriptors, filters, mark, size: dataStart + 4 * words };
}

/** Takes a key apart; a key without a host is all path. */
function keyParts(surt, queries) {
  const hostEnd = surt.endsWith(")") && !surt.includes(")/") ? surt.length - 1 : surt.indexOf(")/");
  const [path] = surt.slice(hostEnd + 1).split("?", 1);
  const query = queries ? surt.slice(hostEnd + 1 + path.length) : "";
  const rest = query === "?" ? "" : query;
  return hostEnd < 0 ? [undefined, path, rest] : [surt.slice(0, hostEnd), path || "/", rest];
}

/** What a part says of a key: whether it is present, the name that decided, the captures of its host. */
function lookupIn({ header, descriptors, filters }, surt) {
  const { table, queries, hostWildcards, hostSpreads } = header;
  const [host, path, query] = keyParts(surt, queries);
  let atMost;
  const describe = (name) => {
    if (table.fingerprint === 0) return descriptors[0];
    const value = find(filters.hosts, ...hash(encoder.encode(name)), table.fingerprint);
    const descriptor = descriptors[value % 2 ** table.descriptor];
    const level = Math.floor(value / 2 ** table.descriptor) + 1;
    if (descriptor && table.count > 0) atMost = 2 ** Math.min(53, table.step * level) - 1;
    return descriptor;
  };
  const ask = (name, rows, voids, width) => {
    const [low, high] = hash(encoder.encode(name));
    const bits = (width >> 3) + (mix(high ^ 0x165667b1) >>> 29 < (width & 7) ? 1 : 0);
    if (rows && (bits === 0 || find(filters[`rows ${bits}`], low, high) === 0)) return [true, name];
    return voids && find(filters.voids, low, high) === 0 ? [false, name] : undefined;
  };
  /** Asks for a page, and for it with any query. */
  function* askPage(page, [rows, anyRows], voids, width, wideWidth) {
    yield ask(page + query, rows, voids, width);
    if (queries) yield ask(`${page}?*`, anyRows, voids, wideWidth);
  }
  /** Asks for names, the most specific first. */
  function* decisions() {
    const own = describe(host === undefined ? "" : `${host})`);
    const [exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth] = own ?? [];
    if (host === undefined) {
      if (exact & 2) yield* askPage(path, [true, true], false, width, width);
      return;
    }
    if (own) {
      const segments = path === "/" ? [] : path.slice(1).split("/");
      const bit = 1 << Math.min(segments.length, 7);
      if (path + query === "/" && flags & HOME) yield [true, `${host})/`];
      const rows = [query === "" ? exact & bit : flags & QUERY, flags & ANY_QUERY];
      yield* askPage(`${host})${path}`, rows, voidExact & bit, width, wideWidth);
      for (let depth = segments.length; depth >= 0; depth--) {
        const name = [`${host})`, ...segments.slice(0, depth), "*"].join("/");
        if (depth === 0 && flags & ALL) yield [true, name];
        const bit = 1 << Math.min(depth, 7);
        yield ask(name, wildcards & bit, voidWildcards & bit, wideWidth);
      }
    }
    for (let labels = host.split(","); labels.length > 0; labels.pop()) {
      const bit = 1 << Math.min(labels.length, 31);
      const above = `${labels.join(",")},*`;
      const spread = hostSpreads & bit && describe(`${above})`);
      if (spread) yield* askPage(`${above})${path}`, [true, true], spread[2], spread[5], spread[6]);
      const all = hostWildcards & bit && describe(above);
      if (all && table.fingerprint > 0) yield [(all[4] & NONE) === 0, above];
      else if (all) yield ask(above, true, true, all[6]);
    }
  }
  for (const decision of decisions()) if (decision) return [...decision, atMost];
  return [false, undefined, atMost];
}

/**
 * Opens a packed map, with the deltas behind it, and checks all of it.
 *
 * @param {Uint8Array} bytes all bytes of the file
 * @throws {Error} if it is not a packed map of version 1, or damaged
 */
export function openPacked(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length || at === 0; at += parts.at(-1).size) {
    const part = openPart(bytes.subarray(at));
    const { delta, queries } = part.header;
    const before = parts.at(-1);
    const follows = delta?.base === before?.mark && (delta?.position ?? 0) === parts.length;
    check(follows && queries === (before ?? part).header.queries, "chain of deltas");
    parts.push(part);
  }
  /** Answers for a key: `present`, the name that decided, and at most how many captures its host has. */
  function lookup(surt) {
    const answers = parts.map((part) => lookupIn(part, surt));
    const [present, name] = answers.find(([isPresent]) => isPresent) ?? answers[0];
    const bounds = answers.flatMap(([, , atMost]) => atMost ?? []);
    const most = bounds.length > 0 ? Math.max(...bounds) : undefined;
    return name === undefined ? { present } : { present, name, atMost: present ? most : 0 };
  }
  return { header: parts.at(-1).header, lookup };
}

if (globalThis.process?.argv[1]?.endsWith("packed-reader.mjs")) {
  const { readFileSync } = await import("node:fs");
  const [file, ...keys] = process.argv.slice(2);
  const map = openPacked(readFileSync(file));
  for (const key of keys.length > 0 ? keys : readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const { present, name = "-", atMost = "-" } = map.lookup(key);
    console.log(`${key} ${present ? "present" : "absent"} ${name} ${atMost}`);
  }
}
