import { isMementoMapError, MementoMapError } from "../../errors.ts";
import type { FailureKind } from "./exchange.ts";

/** What went wrong, in words and in kind. */
export interface NetworkFailure {
  readonly error: MementoMapError;
  readonly kind: FailureKind;
}

const KNOWN: Readonly<Record<string, readonly [FailureKind, string]>> = {
  ENOTFOUND: ["connect", "there is no such host"],
  EAI_AGAIN: ["connect", "the name of the host could not be looked up"],
  ECONNREFUSED: ["connect", "nobody listens there"],
  EHOSTUNREACH: ["connect", "there is no way to the host"],
  ENETUNREACH: ["connect", "there is no way to the host"],
  ETIMEDOUT: ["connect", "the host does not answer"],
  UND_ERR_CONNECT_TIMEOUT: ["connect", "the host does not answer"],
  ECONNRESET: ["cut", "the connection was cut before the end"],
  EPIPE: ["cut", "the connection was cut before the end"],
  UND_ERR_SOCKET: ["cut", "the connection was cut before the end"],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["cut", "the answer does not end where its head says"],
  UND_ERR_HEADERS_OVERFLOW: ["protocol", "the server sent headers that are too large"],
  HPE_HEADER_OVERFLOW: ["protocol", "the server sent headers that are too large"],
  UND_ERR_INVALID_ARG: ["refused", "the request has a header that cannot be sent"],
  UND_ERR_NOT_SUPPORTED: ["refused", "the request has a header that cannot be sent"],
  UND_ERR_DESTROYED: ["refused", "the upstream is closed"],
  UND_ERR_CLOSED: ["refused", "the upstream is closed"],
};

/** Explains an error of undici, of a socket, or of ours. */
export function networkFailure(error: unknown, url: string): NetworkFailure {
  if (isMementoMapError(error)) {
    return { error, kind: error.code === "MM_LIMIT" ? "limit" : "refused" };
  }
  const { code = "", message } = error as NodeJS.ErrnoException; // undici gives errors only
  const [kind, text] = KNOWN[code] ?? [codeKind(code), message];
  return {
    kind,
    error: new MementoMapError("MM_HTTP", text, { position: { source: url }, cause: error }),
  };
}

/** Codes of the system are like ECONNABORTED; others are of the parser or of TLS, and stay. */
function codeKind(code: string): FailureKind {
  return /^E[A-Z]+$/.test(code) ? "connect" : "protocol";
}
