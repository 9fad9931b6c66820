import { describe, expect, it } from "vitest";
import { FetchClient, type HttpRequest } from "../../../src/http/http-client.ts";
import { HttpSource } from "../../../src/publish/fetch/http-source.ts";
import { openRemoteMap } from "../../../src/publish/fetch/remote-map.ts";
import { runCli } from "../../support/run-cli.ts";
import { serving } from "../../support/serving.ts";

const HOSTS = Array.from({ length: 40 }, (_, i) => `com,h${i + 10}`);
const MAP = `!fields {"keys":["surt"],"values":["frequency"]}\n${HOSTS.map(
  (host, i) => `${host})/ ${i}\n${host},* 0\n`,
).join("")}`;

describe("a map that is looked up by ranges", () => {
  it("answers; one of its pages for its own keys only", async () => {
    const { url } = await serving(MAP, { pageRecords: 10 });
    const whole = `${url}/.well-known/mementomap`;
    const lookup = (address: string, uri: string): ReturnType<typeof runCli> =>
      runCli(["fetch", "-q", "--direct", address, "--lookup", uri]);
    const present = {
      code: 0,
      stdout: "http://h49.com/\tpresent\tcom,h49)/\t39\t0\n",
      stderr: "",
    };
    expect(await lookup(whole, "http://h49.com/")).toEqual(present);
    expect(await lookup(`${whole}?page=8`, "http://h49.com/")).toEqual(present);
    const elsewhere = await lookup(`${whole}?page=8`, "http://h10.com/");
    expect(elsewhere).toMatchObject({ code: 2, stdout: "" });
    expect(elsewhere.stderr).toMatch(/this is page 8 of 8.*\[MM_PAGE\]/);
    const { lookup: search } = await openRemoteMap(new FetchClient(), whole);
    expect(await search.lookupSurt("com,h15,a)/")).toMatchObject({ present: false });
  });

  it("is read past caches, without headers that cost browsers a preflight", async () => {
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
      expect(Object.keys(headers ?? {}).toSorted()).toEqual(["Accept-Encoding", "Range"]);
    }
  });
});
