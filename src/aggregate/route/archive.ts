/** An archive that an aggregator may ask; a member of the list of archives. */
export interface Archive {
  /** Unique in its list; often the host name. */
  readonly id: string;
  readonly name: string;
  /** What an original URI is written behind, as it is, to ask for its TimeMap; ends in `/`. */
  readonly timemap: string | undefined;
  /** The same for a TimeGate. An archive has one of them at least. */
  readonly timegate: string | undefined;
  /** How likely it is, from 0 to 1, that the archive holds a URI nothing else is known about. */
  readonly probability: number | undefined;
  /** Where its map is: an address to fetch from, or a path. */
  readonly mementomap: string | undefined;
  /** How long to wait for its answers at most, where it is not as for all others. */
  readonly timeoutMs: number | undefined;
  /** The archive holds nothing older than this, fourteen digits as a number. */
  readonly from: number | undefined;
  /** The archive holds nothing younger than this, fourteen digits as a number. */
  readonly until: number | undefined;
  /** Requests under way at once, at most; default of the aggregator when undefined. */
  readonly concurrency: number | undefined;
  /** Requests begun in a second, at most; default of the aggregator when undefined. */
  readonly rate: number | undefined;
}
