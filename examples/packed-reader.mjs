// A reader of packed maps, as docs/packed.md specifies them, for browsers, extensions and Node.js.
//
//   node examples/packed-reader.mjs FILE [KEY...]    answers for the keys, or for lines of standard input
//
// A key is a SURT: `com,example)/a/b`. Maps with queries want its query, too: `com,example)/a/b?c=d`.

const MAGIC = [0x89, 0x4d, 0x4d, 0x50, 0x0d, 0x0a, 0x1a, 0x0a];
const [HOME, ALL, QUERY, ANY_QUERY, NONE] = [1, 2, 4, 8, 16];

const encoder = new TextEncoder();

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 0xff];
  return ~crc >>> 0;
}

function mix(value) {
  let x = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** A number below `size`. */
function scale(value, size) {
  return Math.floor(((value >>> 0) * size) / 2 ** 32);
}

function hashName(name) {
  let [a, b] = [0x811c9dc5, 0x2c1b3c6d];
  for (const byte of encoder.encode(name)) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x85ebca6b);
  }
  const low = mix(a + Math.imul(b, 0x9e3779b1)) >>> 0;
  return { low, high: mix(b ^ low) >>> 0 };
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

/** The lowest `bits` bits. */
function lowest(value, bits) {
  return bits === 32 ? value : (value & (2 ** bits - 1)) >>> 0;
}

function check(holds, part) {
  if (!holds) throw new Error(`not a packed map, or damaged: ${part}`);
}

function isWithin(value, least, most) {
  return Number.isInteger(value) && value >= least && value <= most;
}

function checkHeader(header, descriptorCount) {
  const { headers, queries, rows, hosts, voids, table, filters, hostWildcards, hostSpreads } =
    header ?? {};
  check(Array.isArray(headers) && typeof queries === "boolean", "header");
  check(
    [rows, hosts, voids].every((count) => isWithin(count, 0, 2 ** 53)),
    "header",
  );
  check(
    [hostWildcards, hostSpreads].every((mask) => isWithin(mask, 0, 2 ** 32 - 1)),
    "header",
  );
  const { fingerprint, descriptor, count, step } = table ?? {};
  check(isWithin(fingerprint, 0, 32) && isWithin(descriptor, 0, 16), "table of hosts");
  check(isWithin(count, 0, 32) && isWithin(step, 1, 1024) && Array.isArray(filters), "header");
  const names = new Set();
  for (const filter of filters) {
    const { kind, bits, shards } = filter ?? {};
    check(["hosts", "rows", "voids"].includes(kind) && isWithin(bits, 1, 32), "filters");
    check(isWithin(shards, 1, 2 ** 32 - 1), "filters");
    names.add(kind === "rows" ? bits : kind);
    const isTable = fingerprint > 0 && bits === fingerprint + descriptor + count;
    if (kind === "hosts") check(isTable && descriptorCount > 0, "table of hosts");
  }
  check(names.size === filters.length, "filters");
  check(fingerprint > 0 || descriptorCount === 1, "table of hosts");
}

/**
 * Opens a packed map and checks all of it.
 *
 * @param {Uint8Array} bytes all bytes of the file
 * @throws {Error} if it is not a packed map of version 1, or damaged
 */
export function openPacked(bytes) {
  check(bytes.length >= 32 && MAGIC.every((byte, i) => bytes[i] === byte), "first bytes");
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
  const header = JSON.parse(
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(json, json + jsonBytes)),
  );
  checkHeader(header, descriptorCount);
  const descriptors = Array.from({ length: descriptorCount }, (_, i) => {
    const [exact, wildcards, voidExact, voidWildcards, flags, width] = bytes.subarray(32 + 8 * i);
    check(flags < 32, "descriptors");
    return { exact, wildcards, voidExact, voidWildcards, flags, width };
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
  check(shard === shardCount && dataStart + 4 * words === bytes.length, "directory");

  /** The value of a name above its lowest bits, if these, or all, are its fingerprint. */
  function find(filter, { low, high }, checked) {
    const ribbons = filters.get(filter);
    if (ribbons === undefined) return undefined;
    const ribbon = ribbons[scale(mix(low ^ 0x3c6ef372), ribbons.length)];
    const value = ribbonValue(ribbon, { low, high });
    const fingerprint = mix(low + Math.imul(high, 0x27d4eb2f)) >>> 0;
    const bits = checked ?? ribbon.bits;
    const isFound = lowest(value, bits) === lowest(fingerprint, bits);
    return isFound ? Math.floor(value / 2 ** bits) : undefined;
  }

  function isRow(hash, width) {
    const bits = (width >>> 3) + (mix(hash.high ^ 0x165667b1) >>> 29 < (width & 7) ? 1 : 0);
    return bits === 0 || find(`rows ${bits}`, hash) !== undefined;
  }

  const { table, queries } = header;
  const hasTable = table.fingerprint > 0;

  /**
   * Answers for a key: `present`, the name that decided, and at most how many captures its host has.
   *
   * @param {string} surt a key
   */
  function lookup(surt) {
    let count;
    const decided = (present, name) => ({ present, name, atMost: present ? count : 0 });
    const descriptorOf = (host) => {
      if (!hasTable) return descriptors[0];
      const value = find("hosts", hashName(host), table.fingerprint);
      if (value === undefined) return undefined;
      const descriptor = descriptors[lowest(value, table.descriptor)];
      const level = Math.floor(value / 2 ** table.descriptor) + 1;
      if (descriptor && table.count > 0) count = 2 ** Math.min(53, table.step * level) - 1;
      return descriptor;
    };
    const ask = (name, asksRows, asksVoids, width) => {
      const hash = hashName(name);
      if (asksRows && isRow(hash, width)) return decided(true, name);
      if (asksVoids && find("voids", hash) !== undefined) return decided(false, name);
      return undefined;
    };

    const { host, path, query } = keyParts(surt, queries);
    const key = (host === undefined ? "" : `${host})`) + path + query;
    if (host === undefined) {
      const own = descriptorOf("");
      if (!own || (own.exact & 2) === 0) return { present: false };
      const any = queries ? `${path}?*` : undefined;
      const found = ask(key, true, false, own.width) ?? (any && ask(any, true, false, own.width));
      return found ?? { present: false };
    }

    const own = descriptorOf(`${host})`);
    if (own) {
      const { exact, wildcards, voidExact, voidWildcards, flags, width } = own;
      const segments = path === "/" ? [] : path.slice(1).split("/");
      const depth = 1 << Math.min(segments.length, 7);
      const isHeld = query === "" ? exact & depth : flags & QUERY;
      if (key === `${host})/` && flags & HOME) return decided(true, key);
      let found = ask(key, isHeld, voidExact & depth, width);
      if (queries) found ??= ask(`${host})${path}?*`, flags & ANY_QUERY, voidExact & depth, width);
      for (let at = segments.length; found === undefined && at >= 0; at--) {
        const name = `${[`${host})`, ...segments.slice(0, at)].join("/")}/*`;
        if (at === 0 && flags & ALL) return decided(true, name);
        const bit = 1 << Math.min(at, 7);
        found = ask(name, wildcards & bit, voidWildcards & bit, width);
      }
      if (found) return found;
    }

    const labels = host.split(",");
    for (let at = labels.length; at > 0; at--) {
      const bit = 1 << Math.min(at, 31);
      const above = labels.slice(0, at).join(",");
      const spread = header.hostSpreads & bit ? descriptorOf(`${above},*)`) : undefined;
      if (spread) {
        const { width, voidExact } = spread;
        let found = ask(`${above},*)${path}${query}`, true, voidExact, width);
        if (queries) found ??= ask(`${above},*)${path}?*`, true, voidExact, width);
        if (found) return found;
      }
      if ((header.hostWildcards & bit) === 0) continue;
      const name = `${above},*`;
      if (!hasTable) {
        const found = ask(name, true, true, descriptors[0].width);
        if (found) return found;
        continue;
      }
      const wide = descriptorOf(name);
      if (wide) return decided((wide.flags & NONE) === 0, name);
    }
    return { present: false };
  }

  return { header, lookup };
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
