import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineCommand } from "../../src/cli/common/command.ts";
import { parsePositive } from "../../src/cli/common/options.ts";
import { testIo } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

let seen: Record<string, unknown> = {};

const command = defineCommand({
  name: "watch",
  usage: "",
  description: "Watches things.",
  options: {
    "page-size": { value: "N", help: "How many.", parse: parsePositive, default: "3" },
    map: { value: "ID=PATH", help: "Maps.", multiple: true },
    monitor: { help: "Tell." },
    config: { value: "FILE", help: "Settings." },
  },
  examples: { watch: "mementomap watch" },
  isConfigurable: true,
  run({ values }) {
    seen = values;
    return Promise.resolve(0);
  },
});

async function values(
  argv: readonly string[],
  env: Record<string, string> = {},
  file?: unknown,
): Promise<Record<string, unknown>> {
  let path: string[] = [];
  if (file !== undefined) {
    const name = join(scratchDir(), "settings.json");
    writeFileSync(name, typeof file === "string" ? file : JSON.stringify(file));
    path = ["--config", name];
  }
  await command.run([...argv, ...path], testIo({ env }).io);
  return seen;
}

describe("settings", () => {
  it("come from the file, over it the environment, over that the command line", async () => {
    const file = { "page-size": 5, monitor: true, map: ["a=1", "b=2"] };
    expect(await values([])).toMatchObject({ "page-size": 3, monitor: false, map: [] });
    expect(await values([], {}, file)).toMatchObject({
      "page-size": 5,
      monitor: true,
      map: ["a=1", "b=2"],
    });
    const env = {
      MEMENTOMAP_PAGE_SIZE: "7",
      MEMENTOMAP_MONITOR: "false",
      MEMENTOMAP_MAP: "c=3 d=4",
    };
    expect(await values([], env, file)).toMatchObject({
      "page-size": 7,
      monitor: false,
      map: ["c=3", "d=4"],
    });
    expect(await values(["--page-size", "9", "--monitor"], env, file)).toMatchObject({
      "page-size": 9,
      monitor: true,
    });
  });

  it("may name the file in the environment", async () => {
    const path = join(scratchDir(), "settings.json");
    writeFileSync(path, '{"page-size": "11"}');
    expect(await values([], { MEMENTOMAP_CONFIG: path })).toMatchObject({ "page-size": 11 });
  });

  it.each([
    [{ "page-sise": 3 }, {}, /there is no setting "page-sise"; did you mean "page-size"\?/],
    [{ json: true }, {}, /there is no setting "json"/],
    [{ monitor: "yes" }, {}, /"monitor" is "yes"; write true or false/],
    [{ "page-size": [3] }, {}, /"page-size" is \[3\]; write a string or a number/],
    [
      { "page-size": 0 },
      {},
      /settings.json: page-size: expected an integer of at least 1, got "0"/,
    ],
    [[], {}, /expected a JSON object/],
    ["{", {}, /not JSON/],
    [undefined, { MEMENTOMAP_PAGE_SIZE: "x" }, /MEMENTOMAP_PAGE_SIZE: expected an integer/],
    [undefined, { MEMENTOMAP_MONITOR: "1" }, /MEMENTOMAP_MONITOR is "1"; write true or false/],
    [undefined, { MEMENTOMAP_CONFIG: "/nowhere.json" }, /no such file/],
  ])("that are wrong are told: %j %j", async (file, env, message) => {
    await expect(values([], env as Record<string, string>, file)).rejects.toThrow(message);
  });
});
