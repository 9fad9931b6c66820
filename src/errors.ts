/** Every code this package can raise. `docs/errors.md` has an entry for each; a test checks it. */
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

/** Where in an input a fault was found. */
export interface Position {
  /** The name of the file, `stdin`, or another source. */
  readonly source: string;
  /** Counted from 1. */
  readonly line?: number | undefined;
}

export interface ErrorDetails {
  readonly position?: Position | undefined;
  readonly cause?: unknown;
  /** A stable word that says more than the code, where a code has several causes. */
  readonly reason?: string | undefined;
}

/**
 * The one error class of the package.
 *
 * Callers branch on `code`, never on the message. Messages are lower case, name the value, and say
 * what was expected or what to do.
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
  /** Set for faults of servers: `timeout`, `reset`, `bad-encoding`; see `FAILURE_REASONS`. */
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

  /** The same fault with a position, for code that learns the place later than the fault. */
  at(position: Position): MementoMapError {
    const { cause, reason } = this;
    return new MementoMapError(this.code, this.message, { position, cause, reason });
  }
}

/** The error about an input that is damaged, or is something else than expected. */
export function badInput(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source }, cause });
}

/** The error about an input that is larger than allowed. */
export function overLimit(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { position: { source }, cause });
}

/**
 * Whether a caught value is one of ours; works across copies of the package.
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

/** Runs `read`, whose faults get the place, which it does not know. */
export function located<T>(position: Position, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}

/** Shows untrusted text in a message: quoted, escaped, and cut to a readable length. */
export function quote(text: string, maxLength: number = 80): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return JSON.stringify(shown).replaceAll(
    HIDDEN_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** C1 controls, which terminals obey, and marks that change the direction of text. */
const HIDDEN_CHARACTERS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** As messages say how to write an address with both. */
const PLACEHOLDER = "USER:PASSWORD@";

/** A text with addresses, without the user names and passwords in them. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\b(https?:\/\/)([^\s/@]*@)/gi, (address, scheme: string, user) =>
    user === PLACEHOLDER ? address : scheme,
  );
}

/**
 * The error to log for what should not have happened, where work goes on: nobody awaits a timer, and
 * what it throws would end the process. What says itself what is wrong is no bug: a full disk, for one.
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
  ENOTDIR: "a part of the path is not a folder; check the path",
  EISDIR: "is a directory; name a file",
  EACCES: "permission denied; check who may read or write it",
  EPERM: "operation not permitted; check who may read or write it",
  EROFS: "the file system is read-only; choose another place",
  ENOSPC: "no space left on the device; free some or choose another place",
  EDQUOT: "disk quota exceeded; free some space or choose another place",
  EMFILE: "too many open files; raise the limit (ulimit -n)",
  ENFILE: "too many open files on this machine",
  ENAMETOOLONG: "the name is too long for the file system; choose a shorter one",
  EFBIG:
    "the file would be larger than allowed; raise the limit (ulimit -f) or choose another place",
  EEXIST: "already exists and is something else; choose another name",
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

/** The error about a file that is cut while it is read: it must not look like one that ended. */
export function becameShorter(source: string): MementoMapError {
  const message = "became shorter while it was read; try again when no program writes to it";
  return new MementoMapError("MM_IO", message, { position: { source } });
}

/**
 * {@link ioError} of a failed system call, an error of the package as it is, and undefined for any
 * other, which is a bug: for callers that go on after faults that any machine can have.
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

/** What was thrown, as an error, whatever it was. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
