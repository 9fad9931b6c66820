/** A version of a page in an archive. */
export interface Memento {
  /** Where it is: the URI-M, as the archive wrote it. */
  readonly uri: string;
  /** Fourteen digits as a number, `20150213094521`, so that their order is the order of time. */
  readonly datetime: number;
}
