/** What a client may ask of the server; every limit has its option in `mementomap serve`. */
export interface PublisherLimits {
  /** Bytes of a batch, decompressed; larger ones are cut off. */
  readonly maxBatchBytes: number;
  /** Bytes of a URI within a batch. */
  readonly maxUriBytes: number;
}

/** How the server deals with connections. */
export interface ConnectionLimits {
  /** Bytes of the request line and headers. Long URIs to look up are part of it. */
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  /** How long a client may take to send its headers. */
  readonly headersTimeoutMs: number;
  /** How long a client may take to send a request with its body. */
  readonly requestTimeoutMs: number;
  /** How long a connection may do nothing while a request is under way: slow readers and writers. */
  readonly idleTimeoutMs: number;
  /** How long an unused connection is kept for the next request. */
  readonly keepAliveMs: number;
  /** How long requests under way may take once the server is told to stop. */
  readonly graceMs: number;
}

export const DEFAULT_PUBLISHER_LIMITS: PublisherLimits = {
  maxBatchBytes: 256 * 2 ** 20,
  maxUriBytes: 64 * 2 ** 10,
};

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxHeaderBytes: 64 * 2 ** 10,
  maxConnections: 1000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  idleTimeoutMs: 30_000,
  keepAliveMs: 5_000,
  graceMs: 10_000,
};
