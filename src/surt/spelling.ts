/**
 * The key as version 0.1 wrote it: with `*` in place of `%2a`, except for labels and segments that
 * are nothing else. The key itself where there is no difference.
 */
export function keyWithRawStars(key: string): string {
  return key.replace(/%2a/g, (escaped: string, at: number) =>
    isSegment(key, at, at + escaped.length) ? escaped : "*",
  );
}

/**
 * A key of an older map as it is written now: `com,cnn)` as `com,cnn)/`, and a `*` within a label or
 * segment as `%2a`.
 */
export function currentSpelling(key: string): string {
  const spelling = key.includes("*")
    ? key.replace(/\*/g, (star: string, at: number) => (isSegment(key, at, at + 1) ? star : "%2a"))
    : key;
  const isBareHome = spelling.indexOf(")") === spelling.length - 1 && !spelling.endsWith(",*)");
  return isBareHome && spelling !== "" ? `${spelling}/` : spelling;
}

/** Whether a part of a key is a label or a segment as a whole. */
function isSegment(key: string, start: number, end: number): boolean {
  const startsOne = start === 0 || ",/".includes(key.charAt(start - 1));
  return startsOne && (end === key.length || ",/)?".includes(key.charAt(end)));
}
