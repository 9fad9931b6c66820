import { type CaptureFilter, filterNeeds, requiredLiterals } from "../../input/filter.ts";

/** What a scanner does about a filter by itself; the rest it must be shown. */
export interface ScannerFilter {
  /** Digits of the first and the last datetime to keep; empty for any. */
  readonly from: string;
  readonly to: string;
  /** Whether it depends on values in the JSON block what is left out. */
  readonly looksAtJson: boolean;
  /** Rows whose URI has one of these in it, in whatever case, must be looked at; lower case. */
  readonly suspects: readonly string[];
}

export const MAX_SUSPECTS = 8;
export const MAX_SUSPECT_LENGTH = 32;

/** Undefined if nearly every row would have to be looked at. */
export function scannerFilter(filter: CaptureFilter): ScannerFilter | undefined {
  const suspects: string[] = [];
  for (const pattern of filter.exclude ?? []) {
    const literals = requiredLiterals(pattern);
    if (literals === undefined) return undefined;
    suspects.push(...literals.map((literal) => literal.slice(0, MAX_SUSPECT_LENGTH)));
  }
  if (suspects.length > MAX_SUSPECTS) return undefined;
  const { uri, status, mime } = filterNeeds(filter);
  return {
    from: filter.from ?? "",
    to: filter.to ?? "",
    looksAtJson: uri || status || mime,
    suspects,
  };
}
