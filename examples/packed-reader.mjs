// A reader of packed maps, as docs/packed.md specifies them, for browsers, extensions and Node.js.
//
//   node examples/packed-reader.mjs FILE [KEY...]    answers for the keys, or for lines of standard input
//
// A key is a SURT: `com,example)/a/b`. Maps with queries want its query, too: `com,example)/a/b?c=d`.

const MAGIC = "89,4d,4d,50,d,a,1a,a";
const [HOME, ALL, QUERY, ANY_QUERY, NONE] = [1, 2, 4, 8, 16];
const encoder = new TextEncoder();

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
const lowest = (value, bits) => (bits === 32 ? value : (value & (2 ** bits - 1)) >>> 0);

function hash(bytes) {
  let [a, b] = [0x811c9dc5, 0x2c1b3c6d];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x85ebca6b);
  }
  const low = mix(a + Math.imul(b, 0x9e3779b1));
  return { low, high: mix(b ^ low) };
}

/** What a ribbon of `bits` bits gives a name. */
function ribbonValue({ data, slots, seed, bits }, { low, high }) {
  const start = scale(mix(low ^ Math.imul(seed + 1, 0x9e3779b1)) ^ high, slots - 63);
  const coefficients = [
    mix(Math.imul(high, 0x9e3779b1) + low + seed) | 1,
    mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(seed, 0xc2b2ae3d))),
  ];
  let value = 0;
  for (let i = 0; i < 64; i++) {
    if (((coefficients[i >> 5] >>> (i & 31)) & 1) === 0) continue;
    const slot = start + i;
    for (let bit = 0; bit < bits; bit++) {
      const word = data.getUint32(4 * ((slot >>> 5) * bits + bit), true);
      value ^= ((word >>> (slot & 31)) & 1) << bit;
    }
  }
  return value >>> 0;
}

function check(holds, part) {
  if (!holds) throw new Error(`not a packed map, or damaged: ${part}`);
}

/** The checksums find damage; a reader for files of strangers should check all of section 9. */
function checkHeader({ queries, table, filters }, descriptors) {
  const { fingerprint, descriptor, count } = table;
  const names = filters.map(({ kind, bits }) => (kind === "rows" ? bits : kind));
  const bits = filters.find(({ kind }) => kind === "hosts")?.bits;
  const isTable = bits === fingerprint + descriptor + count && descriptors > 0;
  const isSound = fingerprint > 0 ? bits === undefined || isTable : !bits && descriptors === 1;
  check(typeof queries === "boolean" && new Set(names).size === names.length, "header");
  check(isSound, "table of hosts");
}

/** A packed map or a delta, which may be followed by others. @throws {Error} if it is damaged */
function openPart(bytes) {
  const magic = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16)).join();
  check(bytes.length >= 32 && magic === MAGIC, "first bytes");
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
  const text = new TextDecoder("utf-8", { fatal: true });
  const header = JSON.parse(text.decode(bytes.subarray(json, json + jsonBytes)));
  checkHeader(header, descriptorCount);
  const descriptors = Array.from({ length: descriptorCount }, (_, i) => {
    const own = bytes.subarray(32 + 8 * i);
    const [exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth] = own;
    check(flags < 32, "descriptors");
    return { exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth };
  });
  // The ribbons of each filter, by its kind and, for rows, its bits.
  const filters = new Map();
  let [shard, words] = [0, 0];
  for (const { kind, bits, shards } of header.filters) {
    const ribbons = [];
    for (let i = 0; i < shards; i++, shard++) {
      check(shard < shardCount, "directory");
      const [first, slots, seed, crc] = numbers(directory + 16 * shard, 4);
      check(first === words && slots >= 64 && slots % 32 === 0, "directory");
      words += (slots / 32) * bits;
      check(dataStart + 4 * words <= bytes.length, "cut short");
      const part = bytes.subarray(dataStart + 4 * first, dataStart + 4 * words);
      check(crc === crc32(part), `shard ${shard}`);
      const data = new DataView(part.buffer, part.byteOffset, part.byteLength);
      ribbons.push({ data, slots, seed, bits });
    }
    filters.set(kind === "rows" ? `rows ${bits}` : kind, ribbons);
  }
  check(shard === shardCount, "directory");
  const { low, high } = hash(bytes.subarray(0, dataStart));
  const mark = [low, high].map((half) => half.toString(16).padStart(8, "0")).join("");
  return { header, descriptors, filters, mark, size: dataStart + 4 * words };
}

/** The value of a name above its lowest bits, if these, or all, are its fingerprint. */
function find(ribbons, { low, high }, checked) {
  if (ribbons === undefined) return undefined;
  const ribbon = ribbons[scale(mix(low ^ 0x3c6ef372), ribbons.length)];
  const value = ribbonValue(ribbon, { low, high });
  const fingerprint = mix(low + Math.imul(high, 0x27d4eb2f));
  const bits = checked ?? ribbon.bits;
  return lowest(value, bits) === lowest(fingerprint, bits)
    ? Math.floor(value / 2 ** bits)
    : undefined;
}

/** What a part says of a key: whether it is present, the name that decided, the captures of its host. */
function lookupIn({ header, descriptors, filters }, surt) {
  const { table, queries, hostWildcards, hostSpreads } = header;
  let atMost;
  const descriptorOf = (host) => {
    if (table.fingerprint === 0) return descriptors[0];
    const value = find(filters.get("hosts"), hash(encoder.encode(host)), table.fingerprint);
    const descriptor =
      value === undefined ? undefined : descriptors[lowest(value, table.descriptor)];
    const level = Math.floor(value / 2 ** table.descriptor) + 1;
    if (descriptor && table.count > 0) atMost = 2 ** Math.min(53, table.step * level) - 1;
    return descriptor;
  };
  const ask = (name, asksRows, asksVoids, width) => {
    const { low, high } = hash(encoder.encode(name));
    const bits = (width >>> 3) + (mix(high ^ 0x165667b1) >>> 29 < (width & 7) ? 1 : 0);
    const isRow =
      asksRows && (bits === 0 || find(filters.get(`rows ${bits}`), { low, high }) === 0);
    if (isRow) return [true, name];
    return asksVoids && find(filters.get("voids"), { low, high }) === 0 ? [false, name] : undefined;
  };
  /** Asks for names, the most specific first. */
  function* decisions() {
    const { host, path, query } = keyParts(surt, queries);
    const ends = queries ? [query, "?*"] : [query];
    if (host === undefined) {
      const own = descriptorOf("");
      if (own && own.exact & 2)
        for (const end of ends) yield ask(path + end, true, false, own.width);
      return;
    }
    const own = descriptorOf(`${host})`);
    if (own) {
      const { exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth } = own;
      const segments = path === "/" ? [] : path.slice(1).split("/");
      const depth = 1 << Math.min(segments.length, 7);
      const isHeld = query === "" ? exact & depth : flags & QUERY;
      if (path + query === "/" && flags & HOME) yield [true, `${host})/`];
      yield ask(`${host})${path}${query}`, isHeld, voidExact & depth, width);
      if (queries) yield ask(`${host})${path}?*`, flags & ANY_QUERY, voidExact & depth, wideWidth);
      for (let at = segments.length; at >= 0; at--) {
        const name = [`${host})`, ...segments.slice(0, at), "*"].join("/");
        if (at === 0 && flags & ALL) yield [true, name];
        const bit = 1 << Math.min(at, 7);
        yield ask(name, wildcards & bit, voidWildcards & bit, wideWidth);
      }
    }
    for (let labels = host.split(","); labels.length > 0; labels.pop()) {
      const bit = 1 << Math.min(labels.length, 31);
      const above = `${labels.join(",")},*`;
      const spread = hostSpreads & bit ? descriptorOf(`${above})`) : undefined;
      if (spread)
        for (const [at, end] of ends.entries())
          yield ask(
            `${above})${path}${end}`,
            true,
            spread.voidExact,
            at === 0 ? spread.width : spread.wideWidth,
          );
      const wide = hostWildcards & bit ? descriptorOf(above) : undefined;
      if (wide)
        yield table.fingerprint > 0
          ? [(wide.flags & NONE) === 0, above]
          : ask(above, true, true, wide.wideWidth);
    }
  }
  for (const decision of decisions()) {
    if (decision !== undefined) return { present: decision[0], name: decision[1], atMost };
  }
  return { present: false, atMost };
}

/** Takes a key apart; a key without a host is all path. */
function keyParts(surt, queries) {
  const slash = surt.indexOf(")/");
  const hostEnd = slash === -1 && surt.endsWith(")") ? surt.length - 1 : slash;
  const question = surt.indexOf("?", hostEnd + 1);
  const pathEnd = question === -1 ? surt.length : question;
  const query = queries && pathEnd + 1 < surt.length ? surt.slice(pathEnd) : "";
  if (hostEnd === -1) return { host: undefined, path: surt.slice(0, pathEnd), query };
  return { host: surt.slice(0, hostEnd), path: surt.slice(hostEnd + 1, pathEnd) || "/", query };
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
    check(
      delta?.base === before?.mark && (delta?.position ?? 0) === parts.length,
      "chain of deltas",
    );
    check(queries === (before ?? part).header.queries, "queries of a delta");
    parts.push(part);
  }
  /** Answers for a key: `present`, the name that decided, and at most how many captures its host has. */
  function lookup(surt) {
    const answers = parts.map((part) => lookupIn(part, surt));
    const { present, name } = answers.find((answer) => answer.present) ?? answers[0];
    const bounds = answers.flatMap(({ atMost }) => atMost ?? []);
    const atMost = !present ? 0 : bounds.length > 0 ? Math.max(...bounds) : undefined;
    return name === undefined ? { present } : { present, name, atMost };
  }
  return { header: parts.at(-1).header, lookup };
}

if (globalThis.process?.argv[1]?.endsWith("packed-reader.mjs")) {
  const { readFileSync } = await import("node:fs");
  const [file, ...keys] = process.argv.slice(2);
  const map = openPacked(readFileSync(file));
  const asked = keys.length > 0 ? keys : readFileSync(0, "utf8").split("\n").filter(Boolean);
  for (const key of asked) {
    const { present, name = "-", atMost } = map.lookup(key);
    console.log(`${key} ${present ? "present" : "absent"} ${name} ${atMost ?? "-"}`);
  }
}
