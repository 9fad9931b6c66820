import { parseShare } from "./sizes.ts";

/** The option that says how much of itself a map may lose and still replace the older one. */
export const MAX_SHRINK_OPTION = {
  type: "string",
  value: "SHARE",
  default: "50%",
  help: "The share of its mementos that a new map may have lost; 100% takes any map.",
  parse: parseShare,
} as const;
