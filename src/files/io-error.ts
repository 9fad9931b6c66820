import { dirname } from "node:path";
import { isMementoMapError, MementoMapError } from "../errors.ts";

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
  EEXIST: "is there already, and is something else; choose another name",
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

/**
 * {@link ioError} of a failed system call, an error of the package as it is, and undefined for any
 * other, which is a bug: for whoever goes on after what can go wrong on any machine.
 */
export function foreseenError(error: unknown, path: string): MementoMapError | undefined {
  const isForeseen = isMementoMapError(error) || systemCode(error) !== undefined;
  return isForeseen ? ioError(error, path) : undefined;
}

/** The error about a file whose folder does not exist. */
export function missingFolder(path: string): MementoMapError {
  const folder = dirname(path);
  return new MementoMapError("MM_IO", `the folder ${folder} does not exist; make it first`, {
    position: { source: path },
  });
}

/** {@link ioError} about a file or folder that was to be made: what does not exist is its folder. */
export function outputError(error: unknown, path: string): MementoMapError {
  return systemCode(error) === "ENOENT" ? missingFolder(path) : ioError(error, path);
}

/** The code of a failed system call, such as `ENOENT`, or undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
