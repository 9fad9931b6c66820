// A reader of packed maps, as docs/packed.md specifies them, for browsers, extensions and Node.js.
// openPacked(bytes).lookup("com,example)/a/b") says whether a key is present, by what name, at most
// how many captures its host has, and of which years. Maps with queries want "com,example)/a?b=c".

const [HOME, ALL, QUERY, ANY_QUERY, NONE] = [1, 2, 4, 8, 16]; // the flags of a descriptor
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

/** Opens the first part of a file, or one behind another, if it is as sections 9 and 10 ask. */
function openPart(bytes, before, position) {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  const [magic, moreMagic, version, J, D, S, headCrc, start] = words;
  check(words.length >= 8 && magic === 0x504d4d89 && moreMagic === 0x0a1a0a0d, "magic");
  const json = 32 + 8 * D + 16 * S;
  check(version === 1 && start === 8 * Math.ceil((json + J) / 8), "version or sizes");
  check(start <= bytes.length && headCrc === crc32(bytes.subarray(32, start)), "head");
  const descriptors = Array.from({ length: D }, (_, i) => bytes.subarray(32 + 8 * i, 39 + 8 * i));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(json, json + J)));
  const { headers, queries, hostWildcards, hostSpreads, periods = [], source = {}, delta } = header;
  const { fingerprint, descriptor, count, step, period = 0 } = header.table;
  const hostBits = D && fingerprint && fingerprint + descriptor + count + period;
  const filters = {}; // the ribbons of each, by its kind or, for rows, its bits
  let [shard, end] = [0, start];
  for (const { kind, bits, shards } of header.filters) {
    const name = kind === "rows" ? bits : kind;
    check(kind === "hosts" ? bits === hostBits : ["rows", "voids"].includes(kind), "filters");
    check(within(1, 32, bits) && within(1, S - shard, shards) && !filters[name], "filters");
    filters[name] = Array.from({ length: shards }, () => {
      const [first, slots, seed, crc] = words.subarray(8 + 2 * D + 4 * shard++);
      const at = end;
      end += (slots / 8) * bits;
      check(at === start + 4 * first && slots >= 64 && slots % 32 === 0, "directory");
      check(end <= bytes.length && crc === crc32(bytes.subarray(at, end)), `shard ${shard}`);
      return { words: words.subarray(at / 4, end / 4), bits, slots, seed };
    });
  }
  check(within(0, 32, fingerprint, count) && within(0, 16, descriptor, period), "table");
  check(within(1, 1024, step) && (fingerprint > 0 || D === 1), "table");
  check(shard === S && descriptors.every((one) => one[4] < 32), "directory or flags");
  check(within(0, 2 ** 53, header.rows, header.hosts, header.voids), "numbers of names");
  check(within(0, 2 ** 32 - 1, hostWildcards, hostSpreads), "numbers of labels");
  check(typeof queries === "boolean" && Object(source) === source, "header");
  for (const { name } of headers) check(typeof name === "string", "headers");
  for (const [first, last, ...more] of periods)
    check(within(0, last, first) && within(0, 9999, last) && more.length === 0, "periods");
  check(before ? delta.base === before.mark : delta === undefined, "delta");
  check(!before || (delta.position === position && queries === before.header.queries), "delta");
  check(within(position, 63, delta?.most ?? 0), "delta");
  const halves = hash(bytes.subarray(0, start)).map((n) => n.toString(16).padStart(8, "0"));

  /** Goes through the names of section 7, each with: ask rows, ask voids, the width of its row. */
  function lookup(surt) {
    const [, host = "", keyPath, query = ""] = KEY.exec(surt);
    const [path, ends] = [keyPath || "/", queries ? [query, "?*"] : [""]];
    let notes = { atMost: 0 }; // of the last host that was known
    function describe(name) {
      if (fingerprint === 0) return descriptors[0];
      const value = find(filters.hosts, hash(new TextEncoder().encode(name)), fingerprint);
      const known = descriptors[value % 2 ** descriptor];
      const note = Math.floor(value / 2 ** descriptor);
      const atMost = count && 2 ** Math.min(53, step * ((note % 2 ** count) + 1)) - 1;
      if (known) notes = { atMost, years: periods[Math.floor(note / 2 ** count)] };
      return known;
    }
    const page = (name, rows, voids, widths) =>
      ends.map((end, i) => [name + end, rows[i], voids, widths[i]]);
    function* names([exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth]) {
      if (!host) return yield* page(keyPath, [exact & 2, exact & 2], 0, [width, width]);
      const segments = path === "/" ? [] : path.slice(1).split("/");
      const bit = 1 << Math.min(segments.length, 7);
      if (path + ends[0] === "/") yield [`${host}/`, flags & HOME, 0, 0];
      const rows = [ends[0] ? flags & QUERY : exact & bit, flags & ANY_QUERY];
      yield* page(host + path, rows, voidExact & bit, [width, wideWidth]);
      for (let depth = segments.length; depth >= 0; depth--) {
        const folder = [host, ...segments.slice(0, depth), "*"].join("/");
        if (depth === 0) yield [folder, flags & ALL, 0, 0];
        yield [folder, bitOf(wildcards, depth, 7), bitOf(voidWildcards, depth, 7), wideWidth];
      }
      for (const labels = host.slice(0, -1).split(","); labels.length > 0; labels.pop()) {
        const above = `${labels.join(",")},*`;
        const spread = bitOf(hostSpreads, labels.length) && describe(`${above})`);
        if (spread) yield* page(`${above})${path}`, [1, 1], spread[2], spread.subarray(5));
        const all = bitOf(hostWildcards, labels.length) && describe(above);
        if (all) yield fingerprint ? [above, !(all[4] & NONE), true, 0] : [above, 1, 1, all[6]];
      }
    }
    for (const [name, rows, voids, width] of names(describe(host) ?? [])) {
      const hashed = hash(new TextEncoder().encode(name));
      const bits = (width + 7 - (mix(hashed[1] ^ 0x165667b1) >>> 29)) >> 3;
      const isRow = rows && (bits === 0 || find(filters[bits], hashed) === 0);
      const isVoid = voids === true || (voids && find(filters.voids, hashed) === 0);
      if (isRow || isVoid) return { present: Boolean(isRow), name, ...notes };
    }
    return { present: false, ...notes };
  }
  return { header, mark: halves.join(""), end, lookup };
}

/** Opens a packed map with its deltas: an ArrayBuffer or Uint8Array of the file. @throws {Error} */
export function openPacked(file) {
  const [bytes, parts] = [new Uint8Array(file), []]; // a copy of a view: its words are aligned
  for (let at = 0; parts.length === 0 || at < bytes.length; at += parts.at(-1).end)
    parts.push(openPart(bytes.subarray(at), parts.at(-1), parts.length));
  function lookup(surt) {
    const answers = parts.map((part) => part.lookup(surt));
    const { present, name, years } = answers.find((answer) => answer.present) ?? answers[0];
    const atMost = (present && Math.max(...answers.map((answer) => answer.atMost))) || undefined;
    return { present, name, atMost, years: present && parts.length === 1 ? years : undefined };
  }
  return { header: parts.at(-1).header, lookup };
}
