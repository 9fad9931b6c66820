/** The kind of element at which a prefix of a key ends. */
export const LEVEL = {
  all: 0,
  tld: 1,
  domain: 2,
  label: 3,
  host: 4,
  folder: 5,
  folder2: 6,
  folder3: 7,
  original: 8,
} as const;

export const LEVELS = 9;
/** Number of shapes of keys: by depth, with and without a query. */
export const SHAPES = 8;

const MAX_LABELS = 5;
const MAX_FOLDERS = 6;
/** Longer prefixes are not counted, so that rows have a bounded size. */
const MAX_LENGTH = 160;

/** The prefixes of a SURT along the key tree, without the original itself. */
export interface Prefixes {
  readonly surt: string;
  /** From the empty one on: empty, `com,` `com,example,` `com,example)/` `com,example)/a/` `com,example)/a/b?`. */
  readonly texts: readonly string[];
  /** One of {@link LEVEL} for each. */
  readonly levels: readonly number[];
  /** The depth of the path up to 3, and 4 more with a query. */
  readonly shape: number;
}

export function prefixesOf(surt: string): Prefixes {
  const texts = [""];
  const levels: number[] = [LEVEL.all];
  const close = surt.indexOf(")");
  const host = close < 0 ? surt : surt.slice(0, close);
  let labels = 0;
  for (let at = 0; at >= 0 && labels < MAX_LABELS; labels++) {
    at = host.indexOf(",", at);
    const end = at < 0 ? host.length : at;
    if (end > MAX_LENGTH) break;
    texts.push(`${host.slice(0, end)},`);
    levels.push(labels === 0 ? LEVEL.tld : labels === 1 ? LEVEL.domain : LEVEL.label);
    if (at >= 0) at++;
  }
  if (close < 0 || close > MAX_LENGTH) return { surt, texts, levels, shape: 0 };
  texts.push(`${host})/`);
  levels.push(LEVEL.host);
  const query = surt.indexOf("?", close);
  const end = query < 0 ? surt.length : query;
  let [folders, at] = [0, close + 2];
  for (; ; folders++) {
    const slash = surt.indexOf("/", at);
    if (slash < 0 || slash >= end) break;
    at = slash + 1;
    if (folders >= MAX_FOLDERS || at > MAX_LENGTH) continue;
    texts.push(surt.slice(0, at));
    levels.push(Math.min(LEVEL.folder + folders, LEVEL.folder3));
  }
  // Answers for one query of a script predict those for others.
  if (query >= 0 && query < MAX_LENGTH && folders < MAX_FOLDERS) {
    texts.push(surt.slice(0, query + 1));
    levels.push(Math.min(LEVEL.folder + folders, LEVEL.folder3));
  }
  const depth = folders + (at < end ? 1 : 0);
  return { surt, texts, levels, shape: Math.min(depth, 3) + (query < 0 ? 0 : 4) };
}
