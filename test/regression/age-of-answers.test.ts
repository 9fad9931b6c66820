import { describe, expect, it } from "vitest";
import { aggregating, localArchive } from "../support/aggregating.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";

const URI = "http://example.org/";

describe("an answer made of one that was kept for long", () => {
  it.each(["timemap/link", "timemap/json", "timegate", "summary"])(
    "is fresh to caches for as long as any other: /%s",
    async (path) => {
      const old = await localArchive("old", (_request, response) => {
        response.writeHead(200, { Age: "1800", "Cache-Control": "max-age=3600" });
        response.end(linkTimeMap(URI, "http://old.example/web/", ["20150101000000"]));
      });
      const { url } = await aggregating([old], { service: { maxAgeSeconds: 600 } });
      const ask = async (): Promise<Headers> => {
        const answer = await fetch(`${url}/${path}/${URI}`, { redirect: "manual" });
        await answer.text();
        return answer.headers;
      };
      expect((await ask()).get("cache-control")).toBe("public, max-age=600");
      const headers = await ask();
      const age = Number(headers.get("age"));
      const [, maxAge] = /max-age=(\d+)/.exec(headers.get("cache-control") ?? "") ?? [];
      expect(age).toBeGreaterThanOrEqual(1800);
      expect(Number(maxAge) - age).toBe(600);
    },
  );
});
