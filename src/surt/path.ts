/**
 * Resolves `.` and `..` and removes empty segments, in linear time.
 *
 * An empty segment is a segment until the end: `/a//../b` is `/a/b`. A `..` with nothing before it
 * stays, as in every CDX file, and the next `..` takes it away. The result starts with a slash.
 */
export function normalizePath(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i];
    if (segment === ".") continue;
    if (segment === ".." && kept.length > 0) kept.pop();
    else kept.push(segment);
  }
  const trailing = kept.length > 0 && kept[kept.length - 1] === "" ? "/" : "";
  const joined = kept.filter((segment) => segment !== "").join("/");
  return joined === "" ? "/" : `/${joined}${trailing}`;
}
