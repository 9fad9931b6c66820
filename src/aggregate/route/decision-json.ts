import type { Decision } from "./decision.ts";

/** A decision as it is told to programs; what is not known is null. */
export interface DecisionJson {
  readonly id: string;
  readonly name: string;
  readonly asked: boolean;
  readonly reason: string;
  /** With four digits behind the point. */
  readonly likelihood: number;
  readonly key: string | null;
  readonly frequency: string | null;
}

export function decisionJson({
  archive,
  isAsked,
  reason,
  likelihood,
  key,
  frequency,
}: Decision): DecisionJson {
  return {
    id: archive.id,
    name: archive.name,
    asked: isAsked,
    reason,
    likelihood: Math.round(likelihood * 1e4) / 1e4,
    key: key ?? null,
    frequency: frequency ?? null,
  };
}
