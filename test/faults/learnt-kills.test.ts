import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { Learner } from "../../src/aggregate/learn/learner.ts";
import { restoreSnapshot } from "../../src/aggregate/learn/snapshot.ts";
import { scratchDir } from "../support/scratch.ts";

const LIBRARY = new URL("../../dist/node.js", import.meta.url).href;
const KILL_AT = fileURLToPath(new URL("kill-at.mjs", import.meta.url));

/** Learns from fifty answers more than are in the file, and saves that. */
const PROGRAM = `
import { openAggregator, parseArchiveList } from ${JSON.stringify(LIBRARY)};
const archives = parseArchiveList('[{"id":"a","timemap":"http://127.0.0.1:9/"}]');
const open = await openAggregator({ archives, learn: { file: process.env.LEARNT, memoryBytes: 65536 } });
for (let i = 0; i < 50; i++) {
  open.learner.observe({ archive: "a", surt: "org,x)/" + open.learner.observations, mementos: 1 });
}
await open.close();
`;

function run(file: string, env: Record<string, string>): Promise<string> {
  const kill = `--import=${pathToFileURL(KILL_AT).href}`;
  const child = spawn(process.execPath, [kill, "--input-type=module", "-e", PROGRAM], {
    env: { ...process.env, LEARNT: file, ...env },
    stdio: "ignore",
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve(signal ?? String(code)));
  });
}

/** How many answers a file of what was learnt has. */
function answersIn(file: string): number {
  const learner = new Learner([{ id: "a" }], { memoryBytes: 65_536 });
  restoreSnapshot(learner, readFileSync(file), file);
  return learner.observations;
}

it.skipIf(process.platform === "win32")(
  "a process that is killed while it saves what was learnt leaves the old or the new, whole",
  async () => {
    const folder = scratchDir();
    const [old, counted] = [join(folder, "old.bin"), join(folder, "count")];
    expect(await run(old, { KILL_AT: "0", COUNT_TO: counted })).toBe("0");
    expect(answersIn(old)).toBe(50);
    const changes = Number(readFileSync(counted, "utf8"));
    expect(changes).toBeGreaterThan(2);
    const found: number[] = [];
    for (let at = 1; at <= changes; at++) {
      for (const moment of [String(at), `${at}+`]) {
        const own = scratchDir();
        const file = join(own, "learnt.bin");
        copyFileSync(old, file);
        expect(await run(file, { KILL_AT: moment })).toBe("SIGKILL");
        found.push(answersIn(file));
        // What is left over is no obstacle.
        expect(await run(file, { KILL_AT: "0" })).toBe("0");
        expect(answersIn(file)).toBe((found.at(-1) ?? 0) + 50);
        expect(existsSync(file) && readdirSync(own)).toContain("learnt.bin");
      }
    }
    expect(new Set(found)).toEqual(new Set([50, 100]));
  },
);
