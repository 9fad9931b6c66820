import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FetchClient, type HttpRequest } from "../../src/http/http-client.ts";
import { HttpSource } from "../../src/publish/fetch/http-source.ts";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";
import { serving } from "../support/serving.ts";

describe("the summary of compact", () => {
  it.each([[["--host-weight", "1"]], [["--max-host-depth", "1"]], [["--max-lines", "3"]]])(
    "says how many rows there are: %s",
    async (options) => {
      const folder = folderWith({ "map.ukvs": "com,a)/ 1\ncom,b)/ 1\ncom,c)/ 1\n" });
      const { code, stdout, stderr } = await runCli([
        "compact",
        ...options,
        join(folder, "map.ukvs"),
      ]);
      expect(code).toBe(0);
      const rows = stdout.split("\n").filter((line) => /^[^!]/.test(line)).length;
      expect(stderr).toMatch(/^rows read +3\b/m);
      expect(stderr).toMatch(new RegExp(`^rows +${rows} `, "m"));
    },
  );
});

describe("a key that is not of a host", () => {
  it.each([
    ["dns:a", "present"],
    ["dns:a/", "absent"],
    ["dns:a/x", "absent"],
  ])("is found by itself only: %s is %s", async (key, answer) => {
    const map = join(folderWith({ "map.ukvs": "com,a)/ 1\ndns:a 1\n" }), "map.ukvs");
    const { stdout } = await runCli(["lookup", map, "--surt", key]);
    expect(stdout.split("\t")[1]).toBe(answer);
  });
});

describe("ranges of a map", () => {
  it("are asked for past caches, and without the header that costs browsers a preflight", async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `com,h${10_000 + i})/ 1\n`);
    const { url } = await serving(rows.join(""));
    const requests: HttpRequest[] = [];
    const client = new FetchClient();
    const source = await HttpSource.open(
      {
        request: (target, request = {}) => {
          requests.push(request);
          return client.request(target, request);
        },
      },
      `${url}/.well-known/mementomap`,
    );
    await source.read(200_000, 5);
    expect(requests.length).toBeGreaterThan(1);
    for (const { cache, headers } of requests) {
      expect(cache).toBe("no-store");
      expect(Object.keys(headers ?? {})).not.toContain("If-Range");
    }
  });
});
