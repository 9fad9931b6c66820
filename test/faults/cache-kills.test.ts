import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { localArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";

const KILLS = Math.max(3, Math.ceil(Number(process.env["MEMENTOMAP_KILLS"] ?? 0) / 14));
/** A machine with other work to do is not what is tried here. */
const PATIENT = ["--timeout", "60s", "--headers-timeout", "60s"];
const PAGES = 40;
/** Answers that take a while to write. */
const DATETIMES = Array.from({ length: 2000 }, (_, i) => `${20_000_101_000_000 + i}`);

it.skipIf(process.platform === "win32")(
  "an aggregator that was killed gives whole answers of its cache, and cleans it up",
  async () => {
    let asked = 0;
    const archive = await localArchive("a", (request, response) => {
      asked++;
      const original = (request.url ?? "").replace(/^\/timemap\/link\//, "");
      response.writeHead(200, { "Content-Type": "application/link-format" });
      response.end(linkTimeMap(original, "http://a.test/web/", DATETIMES));
    });
    const list = writeList([archive]);
    const folder = join(scratchDir(), "cache");
    const argv = ["-a", list, "--state", folder, ...PATIENT];
    const bodyOf = async (base: string, page: number): Promise<string> => {
      const response = await fetch(`${base}/timemap/link/http://b.test/${page}`);
      return `${response.status} ${(await response.text()).replaceAll(base, "")}`;
    };
    const first = await aggregateProcess(["-a", list, "--cache", "0", ...PATIENT]);
    const expected = await Promise.all(
      Array.from({ length: PAGES }, (_, page) => bodyOf(first.url, page)),
    );
    first.kill("SIGKILL");
    await first.done;
    expect(new Set(expected).size).toBe(PAGES);
    expect(expected[0]).toMatch(/^200 /);

    for (let kill = 0; kill < KILLS; kill++) {
      const service = await aggregateProcess(argv);
      const left = readdirSync(folder, { recursive: true, encoding: "utf8" });
      expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
      const answers = Array.from({ length: PAGES }, (_, page) => bodyOf(service.url, page));
      // Killed when some are answered, and so written or being written.
      const enough = Math.floor(((kill + Math.random()) / KILLS) * PAGES);
      let done = 0;
      const counted = answers.map(async (answer, page) => {
        // One that was killed answers nothing more.
        const body = await answer.catch(() => undefined);
        if (body === undefined) return;
        expect(body).toBe(expected[page]);
        if (++done === enough) service.kill("SIGKILL");
      });
      await Promise.all(counted);
      service.kill("SIGKILL");
      await service.done;
    }
    const last = await aggregateProcess(argv);
    const before = asked;
    const left = readdirSync(folder, { recursive: true, encoding: "utf8" });
    expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
    const answers = Array.from({ length: PAGES }, (_, page) => bodyOf(last.url, page));
    expect(await Promise.all(answers)).toEqual(expected);
    // Some were kept by those that were killed.
    expect(asked - before).toBeLessThan(PAGES);
  },
);
