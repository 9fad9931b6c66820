import { createRequire } from "node:module";
import type { PublicSuffix } from "../budget/suffix-labels.ts";
import { ownPlace } from "../../../files/package-file.ts";
import { HOST_NAME_ALONE } from "../budget/suffix-labels.ts";

/**
 * Loads the list of public suffixes, as compact/budget/public-suffix.ts does.
 *
 * By `require`: to import a CommonJS module of this size, Node first searches its text for what it
 * exports, which takes longer than to run it.
 */
export function loadPublicSuffix(): PublicSuffix {
  const tldts = createRequire(ownPlace())("tldts") as typeof import("tldts");
  return (name) => tldts.getPublicSuffix(name, HOST_NAME_ALONE);
}
