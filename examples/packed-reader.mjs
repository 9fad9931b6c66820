// A reader of packed maps, as docs/packed.md specifies them, for browsers, extensions and Node.js.
// openPacked(bytes).lookup("com,example)/a/b") says whether a key is present, by what name, at most
// how many captures its host has, and the first and last year of them, as far as the file knows. Maps
// with queries want "com,example)/a/b?c=d".

const [HOME, ALL, QUERY, ANY_QUERY, NONE] = [1, 2, 4, 8, 16]; // the flags of a descriptor
const KEY = /^(?:(.*?)\)(?=\/|$))?([^?]*)(\?.+)?/s; // host, path and query

function check(holds, part) {
  if (!holds) throw new Error(`not a packed map, or damaged: ${part}`);
}

const areWithin = (least, most, ...numbers) =>
  numbers.every((n) => Number.isInteger(n) && n >= least && n <= most);
const scale = (value, size) => Math.floor(((value >>> 0) * size) / 2 ** 32);

function crc32(bytes) {
  let crc = -1;
  for (let i = 0; i < 8 * bytes.length; i++) {
    const bit = (crc ^ (bytes[i >>> 3] >>> (i & 7))) & 1;
    crc = (crc >>> 1) ^ (bit && 0xedb88320);
  }
  return ~crc >>> 0;
}

function mix(value) {
  let x = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

function hash(bytes) {
  let [a, b] = [0x811c9dc5, 0x2c1b3c6d];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x85ebca6b);
  }
  const low = mix(a + Math.imul(b, 0x9e3779b1));
  return [low, mix(b ^ low)];
}
const hashName = (name) => hash(new TextEncoder().encode(name));

/** The value of a name without its fingerprint; undefined if it does not have its fingerprint. */
function find(ribbons, [low, high], fingerprintBits) {
  if (ribbons === undefined) return undefined;
  const { words, bits, slots, seed } = ribbons[scale(mix(low ^ 0x3c6ef372), ribbons.length)];
  const start = scale(mix(low ^ Math.imul(seed + 1, 0x9e3779b1)) ^ high, slots - 63);
  const first = mix(Math.imul(high, 0x9e3779b1) + low + seed) | 1;
  const second = mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(seed, 0xc2b2ae3d)));
  let value = 0;
  for (let i = 0, slot = start; i < 64; i++, slot++) {
    const isPicked = ((i < 32 ? first : second) >>> (i & 31)) & 1;
    const [block, shift] = [(slot >>> 5) * bits, slot & 31];
    for (let j = 0; j < bits && isPicked; j++) value ^= ((words[block + j] >>> shift) & 1) << j;
  }
  const unit = 2 ** (fingerprintBits ?? bits);
  const isOther = ((value ^ mix(low + Math.imul(high, 0x27d4eb2f))) >>> 0) % unit;
  return isOther ? undefined : Math.floor((value >>> 0) / unit);
}

/** The packed map or the delta that some bytes begin with, checked as section 9 asks. */
function openPart(bytes) {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  const [magic, moreMagic, version, J, D, S, headCrc, start] = words;
  check(words.length >= 8 && magic === 0x504d4d89 && moreMagic === 0x0a1a0a0d, "magic");
  check(version === 1, `version ${version}`);
  const json = 32 + 8 * D + 16 * S;
  check(start === 8 * Math.ceil((json + J) / 8) && start <= bytes.length, "preamble");
  check(headCrc === crc32(bytes.subarray(32, start)), "head");
  const descriptors = Array.from({ length: D }, (_, i) => bytes.subarray(32 + 8 * i, 39 + 8 * i));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(json, json + J)));
  const { fingerprint, descriptor, count, step, period = 0 } = header.table;
  const filters = {}; // the ribbons of each, by its kind and, for rows, its bits
  let [shard, end] = [0, start];
  for (const { kind, bits, shards } of header.filters) {
    const name = kind === "rows" ? `rows ${bits}` : kind;
    check(["hosts", "rows", "voids"].includes(kind) && !filters[name], "filters");
    check(areWithin(1, 32, bits) && areWithin(1, S - shard, shards), "filters");
    filters[name] = Array.from({ length: shards }, () => {
      const [first, slots, seed, crc] = words.subarray(8 + 2 * D + 4 * shard++);
      const at = end;
      end += (slots / 8) * bits;
      check(at === start + 4 * first && slots >= 64 && slots % 32 === 0, "directory");
      check(end <= bytes.length && crc === crc32(bytes.subarray(at, end)), `shard ${shard}`);
      return { words: words.subarray(at / 4, end / 4), bits, slots, seed };
    });
  }
  check(shard === S, "directory");
  check(!header.headers.some(({ name }) => typeof name !== "string"), "headers");
  const { queries, source = {} } = header;
  check(typeof queries === "boolean" && source !== null && typeof source === "object", "header");
  check(areWithin(0, Infinity, header.rows, header.hosts, header.voids), "numbers of names");
  check(areWithin(0, 2 ** 32 - 1, header.hostWildcards, header.hostSpreads), "numbers of labels");
  check(areWithin(0, 32, fingerprint, count, 2 * descriptor, 2 * period), "table");
  check(areWithin(1, 1024, step), "table");
  for (const [first, last, ...more] of header.periods ?? [])
    check(areWithin(0, 9999, first) && areWithin(first, 9999, last) && !more.length, "periods");
  const hostBits = filters.hosts?.[0].bits;
  check(
    !hostBits || (D > 0 && hostBits === fingerprint + descriptor + count + period),
    "table of hosts",
  );
  check(fingerprint > 0 || (D === 1 && !hostBits), "table of hosts");
  check(!descriptors.some((one) => one[4] > 31), "flags");
  const halves = hash(bytes.subarray(0, start)).map((n) => n.toString(16).padStart(8, "0"));
  return { header, descriptors, filters, mark: halves.join(""), end };
}

/** What a part says of a key, by the names of section 7. */
function lookupIn({ header, descriptors, filters }, surt) {
  const { table, queries, hostWildcards, hostSpreads } = header;
  const [, host, keyPath, keyQuery = ""] = KEY.exec(surt);
  const [path, query] = [keyPath || "/", queries ? keyQuery : ""];
  let [atMost, years] = [0, undefined];
  function describe(name) {
    if (table.fingerprint === 0) return descriptors[0];
    const value = find(filters.hosts, hashName(name), table.fingerprint);
    const descriptor = descriptors[value % 2 ** table.descriptor];
    const note = Math.floor(value / 2 ** table.descriptor);
    const level = (note % 2 ** table.count) + 1;
    if (descriptor && table.count > 0) atMost = 2 ** Math.min(53, table.step * level) - 1;
    if (descriptor) years = header.periods?.[Math.floor(note / 2 ** table.count)];
    return descriptor;
  }
  function ask(name, rows, voids, width) {
    const [low, high] = hashName(name);
    const bits = (width + 7 - (mix(high ^ 0x165667b1) >>> 29)) >> 3;
    const isRow = rows && (bits === 0 || find(filters[`rows ${bits}`], [low, high]) === 0);
    const isVoid = !isRow && voids && find(filters.voids, [low, high]) === 0;
    return isRow || isVoid ? { present: !isVoid, name, atMost, years } : undefined;
  }
  function* askPage(page, [rows, anyRows], voids, [width, wideWidth]) {
    yield ask(page + query, rows, voids, width);
    if (queries) yield ask(`${page}?*`, anyRows, voids, wideWidth);
  }
  function* answers() {
    const own = describe(host === undefined ? "" : `${host})`) ?? [];
    const [exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth] = own;
    if (host === undefined)
      return yield* askPage(keyPath, [exact & 2, exact & 2], 0, [width, width]);
    const segments = path === "/" ? [] : path.slice(1).split("/");
    const bit = 1 << Math.min(segments.length, 7);
    if (path + query === "/") yield ask(`${host})/`, flags & HOME, 0, 0);
    const rows = [query ? flags & QUERY : exact & bit, flags & ANY_QUERY];
    yield* askPage(`${host})${path}`, rows, voidExact & bit, [width, wideWidth]);
    for (let depth = segments.length; depth >= 0; depth--) {
      const bit = 1 << Math.min(depth, 7);
      const folder = [`${host})`, ...segments.slice(0, depth), "*"].join("/");
      if (depth === 0) yield ask(folder, flags & ALL, 0, 0);
      yield ask(folder, wildcards & bit, voidWildcards & bit, wideWidth);
    }
    for (const labels = host.split(","); labels.length > 0; labels.pop()) {
      const bit = 1 << Math.min(labels.length, 31);
      const above = `${labels.join(",")},*`;
      const spread = hostSpreads & bit && describe(`${above})`);
      if (spread) yield* askPage(`${above})${path}`, [1, 1], spread[2], spread.subarray(5));
      const all = hostWildcards & bit && describe(above);
      if (all && all[4] & NONE) yield { present: false, name: above, atMost };
      if (all) yield ask(above, 1, 1, table.fingerprint > 0 ? 0 : all[6]);
    }
  }
  for (const answer of answers()) if (answer) return answer;
  return { present: false, atMost };
}

/** Opens a packed map with its deltas, given all bytes of the file. @throws {Error} */
export function openPacked(file) {
  const bytes = Uint8Array.from(file); // so that its words are aligned
  const parts = [];
  for (let at = 0; at === 0 || at < bytes.length; at += parts.at(-1).end) {
    const [part, before] = [openPart(bytes.subarray(at)), parts.at(-1)];
    const { delta, queries } = part.header;
    check(before ? delta?.base === before.mark : delta === undefined, "delta");
    check(!before || delta.position === parts.length, "delta");
    check(areWithin(parts.length, 63, delta?.most ?? 0), "delta");
    check(queries === (before ?? part).header.queries, "delta");
    parts.push(part);
  }
  function lookup(surt) {
    const answers = parts.map((part) => lookupIn(part, surt));
    const { present, name, years } = answers.find((answer) => answer.present) ?? answers[0];
    const atMost = present ? Math.max(...answers.map((answer) => answer.atMost)) : 0;
    const known = present && parts.length === 1 ? years : undefined;
    return { present, name, atMost: atMost || undefined, years: known };
  }
  return { header: parts.at(-1).header, lookup };
}
