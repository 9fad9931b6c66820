import { COMMAND_GROUPS, COMMAND_TABLE } from "../src/cli/main.ts";
import { overview } from "../src/cli/common/command.ts";

/** Renders `docs/cli.md` from the help texts of the commands. */
export async function cliDocs(): Promise<string> {
  const sections = await Promise.all(
    Array.from(COMMAND_TABLE, async ([name, { summary, load }]) => {
      const command = await load();
      return `## ${name}\n\n${summary}.\n\n${fenced(command.help())}`;
    }),
  );
  return `<!-- Generated from the help texts by scripts/write-docs.ts; do not edit. -->

# Command line

The output of \`mementomap --help\` and \`mementomap <command> --help\`. The names of commands and
options, the lines on standard output and the exit status are a stable interface: they change only in
major versions. Messages on standard error are for humans and may change; with \`--json\`, errors have
the form described in [errors.md](errors.md).

${[fenced(overview(COMMAND_GROUPS)), ...sections].join("\n")}`;
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\`\`\`\n`;
}
