import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDir } from "../../support/scratch.ts";
import { spawnShell } from "../../support/spawn-cli.ts";

const MAP = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
com,a)/ 1
com,a)/b 2
org,c)/ 3
`;

describe.skipIf(process.platform === "win32")("an input as its own output", () => {
  it.each(["compact", "merge"])("is safe with %s", async (command) => {
    const folder = scratchDir();
    writeFileSync(join(folder, "m.ukvs"), MAP);
    const result = await spawnShell(
      `cd '${folder}' && mementomap ${command} m.ukvs > expected && mementomap ${command} m.ukvs -o m.ukvs`,
    );
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(readdirSync(folder)).toEqual(["expected", "m.ukvs"]);
    const rows = (name: string): string[] =>
      readFileSync(join(folder, name), "utf8")
        .split("\n")
        .filter((line) => !line.startsWith("!meta"));
    expect(rows("m.ukvs")).toEqual(rows("expected"));
    expect(rows("m.ukvs").length).toBeGreaterThan(2);
  });
});
