import type { LearntArchive } from "./learner.ts";

/** What the list of archives says about what an archive has: `probability` and `scope`. */
export function hintsOf({ id, probability, scope = [] }: LearntArchive): LearntArchive {
  return {
    id,
    ...(probability === undefined ? {} : { probability }),
    ...(scope.length === 0 ? {} : { scope }),
  };
}
