import { MementoMapError, quote } from "../../errors.ts";

/** The members of an option that takes one of a few values; completion offers them. */
export function choice<const Value extends string>(
  choices: readonly Value[],
): { readonly choices: readonly Value[]; readonly parse: (text: string) => Value } {
  return {
    choices,
    parse(text) {
      const typed = text.toLowerCase();
      const found = choices.find((name) => name.toLowerCase() === typed);
      if (found !== undefined) return found;
      throw new MementoMapError("MM_USAGE", `unknown ${quote(text)}; use ${list(choices)}`);
    },
  };
}

/** `a`; `a or b`; `a, b or c`. */
function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
