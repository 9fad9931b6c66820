/** All error codes of this package. `docs/errors.md` has an entry for each; a test checks it. */
export const ERROR_CODES = [
  "MM_USAGE",
  "MM_BUDGET",
  "MM_IO",
  "MM_BAD_INPUT",
  "MM_BAD_LINE",
  "MM_BAD_KEY",
  "MM_BAD_FREQUENCY",
  "MM_BAD_HEADER",
  "MM_BAD_URI",
  "MM_NOT_SORTED",
  "MM_CUT",
  "MM_EMPTY",
  "MM_SHRUNK",
  "MM_PAGE",
  "MM_LIMIT",
  "MM_INTERRUPTED",
  "MM_WORKER",
  "MM_HTTP",
  "MM_NOT_FOUND",
  "MM_REFUSED",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The location of an error in an input. */
export interface Position {
  /** A file name, `stdin`, or another source. */
  readonly source: string;
  /** Starts at 1. */
  readonly line?: number | undefined;
}

export interface ErrorDetails {
  readonly position?: Position | undefined;
  readonly cause?: unknown;
  /** A stable identifier for the cause, where a code has several. */
  readonly reason?: string | undefined;
}

/**
 * The one error class of the package.
 *
 * Callers must branch on `code`, never on the message. Messages are in lower case, contain the value, and state
 * what was
 * expected or how to fix it.
 *
 * @example
 * ```ts
 * import { MementoMapError, parseFrequency } from "mementomap";
 *
 * try {
 *   parseFrequency("many");
 * } catch (error) {
 *   if (error instanceof MementoMapError) console.log(error.code);
 * }
 * ```
 * ```
 * MM_BAD_FREQUENCY
 * ```
 */
export class MementoMapError extends Error {
  override readonly name = "MementoMapError";
  readonly code: ErrorCode;
  readonly position: Position | undefined;
  /** Set for server errors: `timeout`, `reset`, `bad-encoding`; see `FAILURE_REASONS`. */
  readonly reason: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, position } = details;
    super(withoutCredentials(message), cause === undefined ? undefined : { cause });
    this.code = code;
    this.position = position && { ...position, source: withoutCredentials(position.source) };
    this.reason = details.reason;
  }

  /** `index.cdxj:812: key "com,a)/" comes after "com,b)/" [MM_NOT_SORTED]` */
  describe(): string {
    const at = this.position;
    const place =
      at === undefined ? "" : `${at.source}:${at.line === undefined ? "" : `${at.line}:`} `;
    return `${place}${this.message} [${this.code}]`;
  }

  /** The same error with a position, for callers that know the position when the thrower does not. */
  at(position: Position): MementoMapError {
    const { cause, reason } = this;
    return new MementoMapError(this.code, this.message, { position, cause, reason });
  }
}

/** The error for a damaged or unexpected input. */
export function badInput(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source }, cause });
}

/** The error for an input over a limit. */
export function overLimit(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { position: { source }, cause });
}

/**
 * Whether a caught value is a `MementoMapError`; works across copies of the package.
 *
 * @example
 * ```ts
 * import { isMementoMapError, openMap } from "mementomap";
 *
 * await openMap(new Blob(["<html>"])).catch((error: unknown) => {
 *   if (isMementoMapError(error)) console.log(error.code);
 * });
 * ```
 * ```
 * MM_BAD_INPUT
 * ```
 */
export function isMementoMapError(error: unknown): error is MementoMapError {
  return error instanceof Error && error.name === "MementoMapError" && "code" in error;
}

/** Runs `read` and adds the position to its errors. */
export function located<T>(position: Position, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}

/** Quotes untrusted text for a message: escaped and truncated. */
export function quote(text: string, maxLength: number = 80): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return JSON.stringify(shown).replaceAll(
    HIDDEN_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** C1 controls, which terminals interpret, and bidirectional formatting characters. */
const HIDDEN_CHARACTERS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The placeholder used in messages. */
const PLACEHOLDER = "USER:PASSWORD@";

/** Removes user names and passwords from URLs in a text. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\b(https?:\/\/)([^\s/@]*@)/gi, (address, scheme: string, user) =>
    user === PLACEHOLDER ? address : scheme,
  );
}

/**
 * Turns an unexpected error into one to log where work continues, such as in timers, whose errors would end the
 * process.
 * A `MementoMapError`, such as a full disk, is not a bug and is returned unchanged.
 */
export function internalFault(error: unknown, code: ErrorCode): MementoMapError {
  if (isMementoMapError(error)) return error;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new MementoMapError(code, `a bug, please report it: ${message}`, {
    cause: error,
    reason: "internal",
  });
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder; check the path",
  ENOTDIR: "a component of the path is not a folder; check the path",
  EISDIR: "is a directory; name a file",
  EACCES: "permission denied; check the file permissions",
  EPERM: "operation not permitted; check the file permissions",
  EROFS: "the file system is read-only; choose another place",
  ENOSPC: "no space left on the device; free some or choose another place",
  EDQUOT: "disk quota exceeded; free some space or choose another place",
  EMFILE: "too many open files; raise the limit (ulimit -n)",
  ENFILE: "too many open files on this machine",
  ENAMETOOLONG: "the name is too long for the file system; choose a shorter one",
  EFBIG:
    "the file would be larger than allowed; raise the limit (ulimit -f) or choose another place",
  EEXIST: "already exists with another type; choose another name",
  ELOOP: "too many symbolic links in the path",
  EIO: "the device reported an error",
};

/**
 * Turns a failed system call on `path` into an `MM_IO` error that says what to do.
 *
 * Errors of the package pass through unchanged.
 */
export function ioError(error: unknown, path: string): MementoMapError {
  if (isMementoMapError(error)) return error;
  const explanation =
    EXPLANATIONS[systemCode(error) ?? ""] ??
    (error instanceof Error ? error.message : String(error));
  return new MementoMapError("MM_IO", explanation, { position: { source: path }, cause: error });
}

/** The error for a file truncated while it is read, which must not look like its end. */
export function becameShorter(source: string): MementoMapError {
  const message =
    "the file was truncated while it was read; try again when no program writes to it";
  return new MementoMapError("MM_IO", message, { position: { source } });
}

/**
 * {@link ioError} for a failed system call, a `MementoMapError` unchanged, and undefined for any other error,
 * which is a
 * bug: for callers that continue after operational errors.
 */
export function foreseenError(error: unknown, path: string): MementoMapError | undefined {
  const isForeseen = isMementoMapError(error) || systemCode(error) !== undefined;
  return isForeseen ? ioError(error, path) : undefined;
}

/** The code of a failed system call, such as `ENOENT`, or undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Converts any thrown value to an `Error`. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
