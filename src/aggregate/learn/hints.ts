import type { LearntArchive } from "./learner.ts";

/** What the list of archives says about what an archive has: `probability` and `scope`. */
export function hintsOf(archive: {
  readonly id: string;
  readonly probability?: number | undefined;
}): LearntArchive {
  const { id, probability } = archive;
  const scope = "scope" in archive ? archive.scope : undefined;
  const prefixes = Array.isArray(scope)
    ? scope.filter((prefix): prefix is string => typeof prefix === "string")
    : [];
  return {
    id,
    ...(probability === undefined ? {} : { probability }),
    ...(prefixes.length === 0 ? {} : { scope: prefixes }),
  };
}
