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
  return `<!-- Written by scripts/write-docs.ts from the help texts: change those. -->

# Command line

This is what \`mementomap --help\` and \`mementomap <command> --help\` say. The names of commands and
options, the lines on standard output and the exit status are interface: they change only with the
major version. Messages on standard error are for people and may change; with \`--json\` errors have
the form that [errors.md](errors.md) describes.

${[fenced(overview(COMMAND_GROUPS)), ...sections].join("\n")}`;
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\`\`\`\n`;
}
