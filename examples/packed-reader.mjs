// A reader of packed maps, as docs/packed.md specifies them, for browsers, extensions and Node.js.
// openPacked(bytes).lookup("com,example)/a/b"): whether a key is present, and the matching name.
// Maps with queries expect "com,example)/a?b=c".

const [HOME, ALL, QUERY, ANY_QUERY, VOIDS] = [1, 2, 4, 8, 16]; // the flags of a descriptor
const KEY = /^(?:(.*?\))(?=[/?]|$))?([^?]*)(\?.+)?/s; // the name of the host, path and query
const within = (from, to, ...all) => all.every((n) => Number.isInteger(n) && from <= n && n <= to);
const bitOf = (mask, at, last = 31) => (mask >>> Math.min(at, last)) & 1;
const scale = (value, size) => Math.floor(((value >>> 0) * size) / 2 ** 32);
function check(holds, part) {
  if (!holds) throw new Error(`not a packed map, or damaged: ${part}`);
}

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes)
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ ((crc ^ (byte >>> i)) & 1 && 0xedb88320);
  return ~crc >>> 0;
}
function mix(value) {
  let x = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
function hash(bytes) {
  const a = bytes.reduce((a, byte) => Math.imul(a ^ byte, 0x01000193), 0x811c9dc5);
  const b = bytes.reduce((b, byte) => Math.imul(b ^ byte, 0x85ebca6b), 0x2c1b3c6d);
  const low = mix(a + Math.imul(b, 0x9e3779b1));
  return [low, mix(b ^ low)];
}

/** The value of a name behind its fingerprint; undefined if the fingerprint does not fit. */
function find(ribbons, [low, high], fingerprintBits) {
  if (ribbons === undefined) return undefined;
  const { words, bits, slots, seed } = ribbons[scale(mix(low ^ 0x3c6ef372), ribbons.length)];
  const start = scale(mix(low ^ Math.imul(seed + 1, 0x9e3779b1)) ^ high, slots - 63);
  const first = mix(Math.imul(high, 0x9e3779b1) + low + seed) | 1;
  const second = mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(seed, 0xc2b2ae3d)));
  let value = 0;
  for (let i = 0, slot = start; i < 64; i++, slot++)
    for (let j = 0; j < bits && bitOf(i < 32 ? first : second, i % 32); j++)
      value ^= bitOf(words[(slot >>> 5) * bits + j], slot % 32) << j;
  const unit = 2 ** (fingerprintBits ?? bits);
  const isOther = ((value ^ mix(low + Math.imul(high, 0x27d4eb2f))) >>> 0) % unit;
  return isOther ? undefined : Math.floor((value >>> 0) / unit);
}

/** Opens a packed map (ArrayBuffer or Uint8Array) after the checks of section 9. @throws {Error} */
export function openPacked(file) {
  const bytes = new Uint8Array(file); // a copy of a view: its words are aligned
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  const [magic, moreMagic, version, J, D, S, headCrc, start] = words;
  check(words.length >= 8 && magic === 0x504d4d89 && moreMagic === 0x0a1a0a0d, "magic");
  const json = 32 + 4 * D + 16 * S;
  check(version === 1 && start % 8 === 0 && json + J <= start, "version or sizes");
  check(start <= bytes.length && headCrc === crc32(bytes.subarray(32, start)), "head");
  const descriptors = Array.from({ length: D }, (_, i) => bytes.subarray(32 + 4 * i, 36 + 4 * i));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(json, json + J)));
  const { headers, queries, hostWildcards, hostSpreads, source = {} } = header;
  const firstVoid = Math.ceil((json + J) / 8); // both halves of each, up to the data
  check(firstVoid + header.voids === start / 8, "version or sizes");
  const isVoid = new Set();
  for (let at = firstVoid; at < start / 8; at++)
    isVoid.add(`${words[2 * at]} ${words[2 * at + 1]}`);
  const { fingerprint, descriptor } = header.table;
  const hostBits = D && fingerprint && fingerprint + descriptor;
  const filters = {}; // the ribbons of each, by its kind or, for rows, its bits
  let [shard, end] = [0, start];
  for (const { kind, bits, shards } of header.filters) {
    const name = kind === "rows" ? bits : kind;
    check(kind === "hosts" ? bits === hostBits : kind === "rows", "filters");
    check(within(1, 32, bits) && within(1, S - shard, shards) && !filters[name], "filters");
    filters[name] = Array.from({ length: shards }, () => {
      const [first, slots, seed, crc] = words.subarray(8 + D + 4 * shard++);
      const at = end;
      end += (slots / 8) * bits;
      check(at === start + 4 * first && slots >= 64 && slots % 32 === 0, "directory");
      check(end <= bytes.length && crc === crc32(bytes.subarray(at, end)), `shard ${shard}`);
      return { words: words.subarray(at / 4, end / 4), bits, slots, seed };
    });
  }
  check(within(0, 32, fingerprint) && within(0, 16, descriptor), "table");
  check(fingerprint > 0 || D === 1, "table");
  check(
    shard === S && end === bytes.length && descriptors.every((one) => one[2] < 32),
    "directory, end or flags",
  );
  check(within(0, 2 ** 53, header.rows, header.hosts, header.voids), "numbers of names");
  check(within(0, 2 ** 32 - 1, hostWildcards, hostSpreads), "numbers of labels");
  check(typeof queries === "boolean" && Object(source) === source, "header");
  for (const { name } of headers) check(typeof name === "string", "headers");

  /** The descriptor of a known host. */
  function describe(name) {
    if (fingerprint === 0) return descriptors[0];
    return descriptors[find(filters.hosts, hash(new TextEncoder().encode(name)), fingerprint)];
  }

  /** Iterates over the names of section 7, each with: check voids, check rows, width. */
  function lookup(surt) {
    const [, host = "", keyPath, query = ""] = KEY.exec(surt);
    const [path, ends] = [keyPath || "/", queries ? [query, "?*"] : [""]];
    const page = (name, voids, rows, width) =>
      ends.map((end, i) => [name + end, voids, rows[i], width]);
    function* names([exact, wildcards, flags, width]) {
      const voids = flags & VOIDS;
      if (!host) return yield* page(keyPath, voids, [exact & 2, exact & 2], width);
      const segments = path === "/" ? [] : path.slice(1).split("/");
      const bit = 1 << Math.min(segments.length, 7);
      if (path + ends[0] === "/") yield [`${host}/`, 0, flags & HOME, 0];
      const rows = [ends[0] ? flags & QUERY : exact & bit, flags & ANY_QUERY];
      yield* page(host + path, voids, rows, width);
      for (let depth = segments.length; depth >= 0; depth--) {
        const folder = [host, ...segments.slice(0, depth), "*"].join("/");
        if (depth === 0) yield [folder, 0, flags & ALL, 0];
        yield [folder, voids, bitOf(wildcards, depth, 7), width];
      }
      for (const labels = host.slice(0, -1).split(","); labels.length > 0; labels.pop()) {
        const above = `${labels.join(",")},*`;
        if (bitOf(hostSpreads, labels.length)) {
          const spread = describe(`${above})`);
          yield* page(`${above})${path}`, 1, [spread, spread], spread?.[3]);
        }
        if (!bitOf(hostWildcards, labels.length)) continue;
        yield [above, 1, 0, 0];
        const all = describe(above);
        yield [above, 0, all, fingerprint ? 0 : all[3]];
      }
    }
    for (const [name, voids, rows, width] of names(describe(host) ?? [])) {
      const hashed = hash(new TextEncoder().encode(name));
      const bits = (width + 7 - (mix(hashed[1] ^ 0x165667b1) >>> 29)) >> 3;
      if (voids && isVoid.has(hashed.join(" "))) return { present: false, name };
      const isRow = rows && (bits === 0 || find(filters[bits], hashed) === 0);
      if (isRow) return { present: true, name };
    }
    return { present: false };
  }
  return { header, lookup };
}
