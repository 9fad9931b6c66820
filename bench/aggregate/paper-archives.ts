/** What a log of an aggregator says about an archive: shares of its answers, from 0 to 1. */
export interface LoggedArchive {
  readonly id: string;
  readonly name: string;
  readonly hits: number;
  readonly errors: number;
}

/**
 * The fourteen archives of the MementoMap paper's table of MemGator's log, 2015 to 2019 (Alam et
 * al., 2019): 5.44 % of 61,816,637 requests were hits, 92.92 % misses, 1.64 % errors.
 */
export const PAPER_ARCHIVES: readonly LoggedArchive[] = [
  { id: "ia", name: "Internet Archive", hits: 0.3576, errors: 0.0056 },
  { id: "archive-it", name: "Archive-It", hits: 0.0914, errors: 0.0048 },
  { id: "archive-today", name: "Archive Today", hits: 0.0844, errors: 0.026 },
  { id: "loc", name: "Library of Congress", hits: 0.0477, errors: 0.0092 },
  { id: "arquivo", name: "Arquivo.pt", hits: 0.0335, errors: 0.0036 },
  { id: "icelandic", name: "Icelandic", hits: 0.0222, errors: 0.0064 },
  { id: "stanford", name: "Stanford", hits: 0.0154, errors: 0.0043 },
  { id: "ukwa", name: "UK Web Archive", hits: 0.0149, errors: 0.122 },
  { id: "perma", name: "Perma", hits: 0.0132, errors: 0.0001 },
  { id: "proni", name: "PRONI", hits: 0.0075, errors: 0.0054 },
  { id: "uk-parliament", name: "UK Parliament", hits: 0.0063, errors: 0.0052 },
  { id: "nrs", name: "NRS", hits: 0.0021, errors: 0.0001 },
  { id: "uk-national", name: "UK National", hits: 0.001, errors: 0.0045 },
  { id: "pastpages", name: "PastPages", hits: 0, errors: 0.371 },
];
