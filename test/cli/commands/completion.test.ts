import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { COMMAND_TABLE } from "../../../src/cli/main.ts";
import { runCli } from "../../support/run-cli.ts";

function has(shell: string): boolean {
  return spawnSync(shell, ["-c", "true"]).status === 0;
}

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(["completion", shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("completion", () => {
  it.each([[[]], [["csh"]], [["bash", "zsh"]]])(
    "wants the name of one shell: %j",
    async (names) => {
      const { code, stdout, stderr } = await runCli(["completion", ...names]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("name one shell: bash, zsh, fish");
    },
  );

  it.each(["bash", "zsh", "fish"])("knows every command and option: %s", async (shell) => {
    const script = await scriptFor(shell);
    for (const { load } of COMMAND_TABLE.values()) {
      const { name, options } = await load();
      expect(script).toContain(name);
      for (const option of Object.keys(options)) {
        expect(script).toContain(shell === "fish" ? ` -l ${option}` : `--${option}`);
      }
    }
  });

  it.each(["bash", "zsh", "fish"])(
    "knows the values of options that take few: %s",
    async (shell) => {
      const script = await scriptFor(shell);
      for (const { load } of COMMAND_TABLE.values()) {
        const { options } = await load();
        for (const option of Object.values(options)) {
          if (option.choices === undefined) continue;
          expect(script).toContain(option.choices.join(" "));
          for (const value of option.choices) expect(option.parse?.(value)).toBe(value);
        }
      }
    },
  );

  describe.skipIf(!has("bash"))("in bash (not found: skipped)", () => {
    it.each([
      [["ge"], ["generate"]],
      [["--v"], ["--version"]],
      [["generate", "--revisits", "=", "sk"], ["skip"]],
      [
        ["generate", "--revisits", "="],
        ["count", "skip"],
      ],
      [
        ["help", "comp"],
        ["compact", "completion"],
      ],
      [
        ["compact", "--max-"],
        ["--max-host-depth", "--max-path-depth", "--max-lines", "--max-bytes"],
      ],
      [["lookup", "map.ukvs", "--b"], ["--batch"]],
      [
        ["generate", "--format", "c"],
        ["cdxj", "cdx"],
      ],
      [
        ["evaluate", "--sweep", ""],
        ["paper", "frontier"],
      ],
      [["generate", "--preset", "p"], ["paper"]],
      [["harvest", "--match", "h"], ["host"]],
      [["aggregate", "-f", "j"], ["json"]],
      // Names of files are the shell's own affair.
      [["lookup", "ma"], []],
      [["nonsense", "--"], []],
    ])("completes %j to %j", async (words, expected) => {
      const typed = ["mementomap", ...words].map((word) => `'${word}'`).join(" ");
      const script = `${await scriptFor("bash")}
        COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _mementomap
        printf '%s\\n' "\${COMPREPLY[@]}"`;
      const shown = execFileSync("bash", ["-c", script], { encoding: "utf8" });
      expect(shown.split("\n").filter((line) => line !== "")).toEqual(expected);
    });
  });

  it.skipIf(!has("zsh"))("is sound in zsh (not found: skipped)", async () => {
    const { status, stderr } = spawnSync("zsh", ["-n"], { input: await scriptFor("zsh") });
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: "" });
  });

  it.skipIf(!has("fish"))("completes in fish (not found: skipped)", async () => {
    const script = `${await scriptFor("fish")}complete -C 'mementomap compact --max-l'`;
    const shown = execFileSync("fish", ["-c", script], { encoding: "utf8" });
    expect(shown).toBe("--max-lines\tAt most this many lines, headers included.\n");
    const values = `${await scriptFor("fish")}complete -C 'mementomap evaluate --sweep p'`;
    expect(execFileSync("fish", ["-c", values], { encoding: "utf8" })).toMatch(/^paper\b/);
  });
});
