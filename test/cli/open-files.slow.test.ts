import { spawn } from "node:child_process";
import { get } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { writeList } from "../support/aggregate-process.ts";
import { localArchive } from "../support/aggregating.ts";

const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** The status of an answer, or the code of what went wrong. */
function asked(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 20_000 }, (response) => {
      response.resume();
      response.once("close", () => resolve(response.statusCode ?? 0));
    });
    request.once("timeout", () => request.destroy());
    request.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
  });
}

it.skipIf(process.platform !== "linux")(
  "a service without open files left blames no archive for it, and goes on",
  async () => {
    const archives = await Promise.all(
      ["a", "b", "c"].map((id) =>
        localArchive(id, (_request, response) => {
          setTimeout(() => response.writeHead(404).end(), 200);
        }),
      ),
    );
    const line = `ulimit -n 80 && exec "$0" "$@"`;
    const argv = ["aggregate", "--serve", "--port", "0", "--tolerance", "1"];
    const child = spawn(
      "bash",
      ["-c", line, process.execPath, BIN, ...argv, "-a", writeList(archives)],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const url = await new Promise<string>((resolve) => {
      child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    });
    const questions = Array.from(
      { length: 200 },
      (_, i) => `${url}/timemap/link/http://b.test/${i}`,
    );
    const answers = await Promise.all(questions.map(asked));
    expect(answers).toContain(404);
    const about = (await (await fetch(`${url}/about.json`)).json()) as {
      archives: { health: string; requests: { failures: { local: number } } }[];
    };
    const local = about.archives.map(({ requests }) => requests.failures.local);
    expect(Math.max(...local)).toBeGreaterThan(0);
    expect(about.archives.map(({ health }) => health)).toEqual(["awake", "awake", "awake"]);
    const later = await fetch(`${url}/timemap/link/http://b.test/later`);
    expect(later.headers.get("x-mementomap-missing")).toBeNull();
    expect(child.exitCode).toBeNull();
  },
  60_000,
);
