/** A fixed policy of the earlier archive_profiler: all keys cut to so many labels and segments. */
export interface FixedPolicy {
  readonly name: string;
  readonly labels: number;
  readonly segments: number;
}

/** From the smallest profile to the most detailed one that is still small. */
export const FIXED_POLICIES: readonly FixedPolicy[] = [
  { name: "fixed H1P0", labels: 1, segments: 0 },
  { name: "fixed H2P0", labels: 2, segments: 0 },
  { name: "fixed H3P0", labels: 3, segments: 0 },
  { name: "fixed HxP0", labels: Number.POSITIVE_INFINITY, segments: 0 },
  { name: "fixed HxP1", labels: Number.POSITIVE_INFINITY, segments: 1 },
];

/**
 * The part of a key that a policy keeps, as the key of a map that says the same: `com,*` for H1P0,
 * `com,cnn)/*` for HxP0, `com,cnn)/a/*` for HxP1. A key that is not longer stays what it is.
 */
export function cutKey(key: string, { labels, segments }: FixedPolicy): string {
  const hostEnd = key.indexOf(")");
  if (hostEnd === -1) return key;
  const names = key.slice(0, hostEnd).split(",");
  if (names.length >= labels) {
    return `${names.slice(0, labels).join(",")},*`;
  }
  const path = key.slice(hostEnd + 2).split("/");
  if (path[0] === "" || path.length < segments)
    return segments === 0 ? `${key.slice(0, hostEnd)})/*` : key;
  const kept = path.slice(0, segments).map((segment) => `/${segment}`);
  return `${key.slice(0, hostEnd)})${kept.join("")}/*`;
}
