/** A command line as a shell would read it. */
export interface ShellLine {
  readonly argv: readonly string[];
  /** The file after `<`. */
  readonly stdin?: string;
}

const WORD = /'([^']*)'|"([^"]*)"|(\S+)/g;

/** Reads words, quotes and `< file`: all that the examples of the help texts use. */
export function parseShellLine(line: string): ShellLine {
  const words = Array.from(line.matchAll(WORD), (match) => match[1] ?? match[2] ?? match[3] ?? "");
  const redirect = words.indexOf("<");
  if (redirect === -1) return { argv: words };
  const stdin = words[redirect + 1];
  if (stdin === undefined) throw new Error(`no file after <: ${line}`);
  return { argv: words.toSpliced(redirect, 2), stdin };
}
