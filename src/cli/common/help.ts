import type { CommandDefinition, CommandGroup, OptionTable } from "./command.ts";

const COLUMNS = 80;
const INDENT = "    ";

/** The help text of a command: what it does, how to call it, its options, examples. */
export function helpText(command: Omit<CommandDefinition<OptionTable>, "run">): string {
  const sections = [
    command.description.trim(),
    `Usage:\n${INDENT}mementomap ${command.name} [OPTIONS] ${command.usage}`.trimEnd(),
    `Options:\n${optionList(command.options)}`,
    `Examples:\n${command.examples.map(({ line, does }) => `${INDENT}# ${does}\n${INDENT}${line}`).join("\n")}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

/** The list of commands, for `mementomap --help`. */
export async function overview(groups: readonly CommandGroup[]): Promise<string> {
  const width = Math.max(...groups.flatMap(({ commands }) => [...commands.keys()]).map(lengthOf));
  const lists = await Promise.all(
    groups.map(async ({ title, commands }) => {
      const loaded = await Promise.all(Array.from(commands.values(), (load) => load()));
      const lines = loaded.map(({ name, summary }) => `${INDENT}${name.padEnd(width)}  ${summary}`);
      return `${title}:\n${lines.join("\n")}`;
    }),
  );
  return `mementomap - make, shrink, look up and merge summaries of web archives

Usage:
    mementomap <command> [options] [files...]
    mementomap help <command>

${lists.join("\n\n")}

Options:
    -h, --help     Show this help; after a command, that command's.
    -V, --version  Show the version.

Without a file, or with -, a command reads standard input. Input may be gzip
or zstd. Results go to standard output, or with -o whole or not at all to a
file; a name that ends in .gz compresses it.

Exit status: 0 done or found, 1 done and the answer is no, 2 wrong use, bad
input or a failing disk, 130 interrupted.
`;
}

function lengthOf(text: string): number {
  return text.length;
}

function optionList(options: OptionTable): string {
  return Object.entries(options)
    .map(([name, option]) => {
      const short = option.short === undefined ? "" : `-${option.short}, `;
      const value = option.type === "string" ? ` ${option.value}` : "";
      const fallback =
        option.type === "string" && option.default !== undefined
          ? ` (default ${option.default})`
          : "";
      const text = wrapped(`${option.help}${fallback}`, INDENT.repeat(2));
      return `${INDENT}${short}--${name}${value}\n${text}`;
    })
    .join("\n");
}

function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((each) => `${indent}${each}`).join("\n");
}
