import { type Command, defineCommand } from "../common/command.ts";
import { type OptionTable, usage } from "../common/command-line.ts";
import { quote } from "../../errors.ts";
import { writeOut } from "../common/io.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

type Completable = Pick<Command, "name" | "options"> & { readonly summary: string };

/** Scripts that make a shell complete commands, options and files. They are run by that shell. */
const SCRIPTS: Readonly<Record<Shell, (commands: readonly Completable[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function bashScript(commands: readonly Completable[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const cases = commands.map(({ name, options }) => {
    const words = spellings(options).map(({ text }) => text);
    return `    ${name}) words='${words.join(" ")}' ;;`;
  });
  const values = valueLists(commands).map(
    ({ name, text, choices }) => `    '${name} ${text}') words='${choices.join(" ")}' ;;`,
  );
  // Without proposals, bash completes file names.
  return `_mementomap() {
  local word=\${COMP_WORDS[COMP_CWORD]} last=\${COMP_WORDS[COMP_CWORD - 1]} words=
  # bash breaks --format=cdx at the sign.
  if [[ $word == = ]]; then word=
  elif [[ $last == = ]]; then last=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case "\${COMP_WORDS[1]} $last" in
${values.join("\n")}
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
    help) words='${names}' ;;
${cases.join("\n")}
  esac
  if ((COMP_CWORD == 1)); then words='${names} help --help --version'
  elif [[ $word != -* && \${COMP_WORDS[1]} != help ]]; then words=
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _mementomap mementomap
`;
}

function zshScript(commands: readonly Completable[]): string {
  const list = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = commands.map(({ name, options }) => {
    const words = spellings(options).map(({ text, help }) => quoted(`${text}:${help}`));
    return `    ${name}) options=(${words.join(" ")}) ;;`;
  });
  const values = valueLists(commands).map(
    ({ name, text, choices }) =>
      `    ${quoted(`${name} ${text}`)}) values=(${choices.join(" ")}) ;;`,
  );
  return `#compdef mementomap
_mementomap() {
  local -a commands options values
  commands=(
${list.join("\n")}
  )
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    _describe command commands
    return
  fi
  case "$words[2] $words[CURRENT-1]" in
${values.join("\n")}
  esac
  if (( $#values )); then
    compadd -a values
    return
  fi
  case $words[2] in
${cases.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options; else _files; fi
}
if [[ $funcstack[1] == _mementomap ]]; then _mementomap "$@"; else compdef _mementomap mementomap; fi
`;
}

function fishScript(commands: readonly Completable[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const lines = commands.flatMap(({ name, summary, options }) => [
    `complete -c mementomap -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...Object.entries(options).map(([option, spec]) => {
      const { short, choices, help } = spec;
      const letter = short === undefined ? "" : ` -s ${short}`;
      const rest = spec.value === undefined ? "" : " -r";
      const value = choices === undefined ? rest : ` -x -a ${quoted(choices.join(" "))}`;
      return `complete -c mementomap -n '__fish_seen_subcommand_from ${name}'${letter} -l ${option}${value} -d ${quoted(help)}`;
    }),
  ]);
  return `${[
    ...lines,
    `complete -c mementomap -n __fish_use_subcommand -f -a help -d 'Show the help of a command'`,
    `complete -c mementomap -n '__fish_seen_subcommand_from help' -f -a ${quoted(names)}`,
  ].join("\n")}\n`;
}

/** The short and long spellings of options. */
function spellings(options: OptionTable): { text: string; help: string }[] {
  return Object.entries(options).flatMap(([name, { short, help }]) => [
    ...(short === undefined ? [] : [{ text: `-${short}`, help }]),
    { text: `--${name}`, help },
  ]);
}

/** The options with a fixed set of values, of all commands, in each spelling. */
function valueLists(
  commands: readonly Completable[],
): { name: string; text: string; choices: readonly string[] }[] {
  return commands.flatMap(({ name, options }) =>
    Object.entries(options).flatMap(([option, spec]) => {
      const { choices } = spec;
      if (choices === undefined) return [];
      return spellings({ [option]: spec }).map(({ text }) => ({ name, text, choices }));
    }),
  );
}

/** Text in single quotes, in which all three shells take every other character literally. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}

/** @param allCommands loads all commands, to complete their names and options. */
export function completionOf(allCommands: () => Promise<readonly Completable[]>): Command {
  return defineCommand({
    name: "completion",
    usage: SHELLS.join(" | "),
    description: `
Writes a script that enables Tab completion of commands, options and file names
in a shell:

    bash  source <(mementomap completion bash), in ~/.bashrc
    zsh   source <(mementomap completion zsh), in ~/.zshrc after compinit
    fish  mementomap completion fish >
          ~/.config/fish/completions/mementomap.fish
`,
    options: {},
    examples: {
      "the script for bash": "mementomap completion bash",
      "a file for fish": "mementomap completion fish > mementomap.fish",
    },

    async run({ positionals }, io) {
      const [name = "", ...more] = positionals;
      const shell = SHELLS.find((each) => each === name);
      if (shell === undefined || more.length > 0) {
        const given = positionals.length === 0 ? "" : `, not ${quote(positionals.join(" "))}`;
        throw usage("completion", `name one shell: ${SHELLS.join(", ")}${given}`);
      }
      await writeOut(io.stdout, SCRIPTS[shell](await allCommands()));
      return {};
    },
  });
}
