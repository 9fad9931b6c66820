import { ByteFeed } from "./byte-feed.ts";
import {
  DEFAULT_MAX_LINK_BYTES,
  TimeMapDraft,
  type TimeMapLimits,
  type TimeMapReader,
  type TimeMapReading,
} from "./timemap-reading.ts";

/** What readers of all formats have in common: chunks come in, and a draft is filled. */
export abstract class FedReader implements TimeMapReader {
  protected readonly draft: TimeMapDraft;
  protected readonly feed: ByteFeed;

  constructor(limits: TimeMapLimits) {
    this.draft = new TimeMapDraft(limits);
    this.feed = new ByteFeed(
      (bytes, end, isLast) => this.scan(bytes, end, isLast),
      limits.maxLinkBytes ?? DEFAULT_MAX_LINK_BYTES,
    );
  }

  write(chunk: Uint8Array): void {
    this.feed.write(chunk);
  }

  end(): TimeMapReading {
    this.feed.end();
    return this.draft.reading();
  }

  /** As `Scan` of the feed. */
  protected abstract scan(bytes: Uint8Array, end: number, isLast: boolean): number;
}
