import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { EXAMPLE_MAP } from "../support/serving.ts";
import { spawnCli } from "../support/spawn-cli.ts";
import { output, program } from "./programs.ts";

/** The built server as a process of its own, so that curl can be waited for. */
async function serve(): Promise<{ url: string; folder: string; stop: () => Promise<unknown> }> {
  const folder = scratchDir();
  writeFileSync(join(folder, "map.ukvs"), EXAMPLE_MAP);
  const { child, done } = spawnCli(
    ["serve", "map.ukvs", "--port", "0", "--page-records", "2"],
    folder,
  );
  const url = await new Promise<string>((resolve) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
  return {
    url,
    folder,
    stop: () => {
      child.kill("SIGTERM");
      return done;
    },
  };
}

function curl(...args: readonly string[]): Promise<string> {
  return output("curl", ["-sS", ...args], ".");
}

describe.skipIf(program("curl") === undefined)("curl", () => {
  it("gets the map, its parts, its pages and answers", async () => {
    const { url, folder, stop } = await serve();
    const map = `${url}/.well-known/mementomap`;
    expect(await curl(map)).toBe(EXAMPLE_MAP);
    expect(await curl("--compressed", map)).toBe(EXAMPLE_MAP);
    expect(await curl("-I", map)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(await curl("-r", "0-7", map)).toBe("!context");
    const part = join(folder, "part");
    writeFileSync(part, EXAMPLE_MAP.slice(0, 100));
    await curl("-C", "-", "-o", part, map);
    expect(readFileSync(part, "utf8")).toBe(EXAMPLE_MAP);
    const tag = join(folder, "tag");
    await curl("--etag-save", tag, "-o", part, map);
    const again = await curl("--etag-compare", tag, "-o", "/dev/null", "-w", "%{http_code}", map);
    expect(again).toBe("304");
    expect(await curl(`${map}?page=2`)).toContain('"number":2,"of":3');
    const raw = await curl("--path-as-is", "-g", `${url}/lookup?url=http://arxiv.org/pdf/../x[1]`);
    expect(JSON.parse(raw)).toMatchObject({ input: "http://arxiv.org/pdf/../x[1]", present: true });
    const uris = join(folder, "uris.txt");
    writeFileSync(uris, "http://arxiv.org/\nhttp://example.net/\n");
    expect(await curl("--data-binary", `@${uris}`, `${url}/lookup`)).toBe(
      "http://arxiv.org/\tpresent\torg,arxiv)/\t100\t0\nhttp://example.net/\tabsent\t-\t-\t-\n",
    );
    expect(await stop()).toMatchObject({ code: 0 });
  });
});
