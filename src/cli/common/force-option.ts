/** The option that insists where a guard protects a file; `guardOutputs` says what from. */
export const FORCE_OPTION = {
  type: "boolean",
  help: "Replace an existing file even if it is something else.",
} as const;
