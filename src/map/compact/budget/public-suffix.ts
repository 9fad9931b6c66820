import { getPublicSuffix } from "tldts";
import { HOST_NAME_ALONE } from "./suffix-labels.ts";

/** The public suffix of a host name; null for none. */
export function publicSuffix(name: string): string | null {
  return getPublicSuffix(name, HOST_NAME_ALONE);
}
