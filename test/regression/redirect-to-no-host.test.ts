import { describe, expect, it } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { localArchive, plainArchive } from "../support/aggregating.ts";

describe("an archive that redirects to a name that does not resolve", () => {
  it("misses from the answer, and the process goes on", async () => {
    const lost = await localArchive("lost", (_request, response) => {
      response.writeHead(302, { Location: "http://no-such-host.invalid/timemap" }).end();
    });
    const good = await plainArchive("good", ["20150101000000"]);
    const { url, kill, done } = await aggregateProcess(["--archives", writeList([lost, good])]);
    for (let round = 0; round < 3; round++) {
      const answer = await fetch(`${url}/timemap/link/http://example.org/${round}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-memento-count")).toBe("1");
      expect(answer.headers.get("x-mementomap-missing")).toBe("lost;dns");
    }
    kill("SIGTERM");
    expect((await done).code).toBe(0);
  });
});
