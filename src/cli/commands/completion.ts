import { quote } from "../../errors.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { completionScript, SHELLS } from "../common/completion.ts";
import { ExitCode, writeText } from "../common/io.ts";

/** @param allCommands loads all commands, whose names and options are completed. */
export function completionOf(allCommands: () => Promise<readonly Command[]>): Command {
  return defineCommand({
    name: "completion",
    summary: "Make a shell complete commands and options",
    usage: SHELLS.join(" | "),
    description: `
Writes a script for a shell, after which Tab completes commands, options and
names of files:

    bash  source <(mementomap completion bash), in ~/.bashrc
    zsh   source <(mementomap completion zsh), in ~/.zshrc after compinit
    fish  mementomap completion fish >
          ~/.config/fish/completions/mementomap.fish
`,
    options: {},
    examples: [
      { does: "what bash is to run", line: "mementomap completion bash" },
      { does: "a file for fish", line: "mementomap completion fish > mementomap.fish" },
    ],

    async run({ positionals }, io) {
      const [name = "", ...more] = positionals;
      const shell = SHELLS.find((each) => each === name);
      if (shell === undefined || more.length > 0) {
        const given = positionals.length === 0 ? "" : `, not ${quote(positionals.join(" "))}`;
        throw usage("completion", `name one shell: ${SHELLS.join(", ")}${given}`);
      }
      await writeText(io.stdout, completionScript(shell, await allCommands()));
      return ExitCode.ok;
    },
  });
}
