import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aggregating, plainArchive } from "../../support/aggregating.ts";
import { rawGet } from "../../support/raw-http.ts";
import { scratchDir } from "../../support/scratch.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

describe("whatever is asked", () => {
  it("is answered, and never by a fault of ours", async () => {
    const map = join(scratchDir(), "one.ukvs");
    writeFileSync(map, "com,example)/* 3\norg,example)/ 1\n");
    const one = await plainArchive("one", ["20150101000000"]);
    const mapped = { ...one, archive: { ...one.archive, mementomap: map } };
    const { url } = await aggregating([mapped, await plainArchive("two", [])]);
    const pieces =
      'http:// https:// example.com / // .. : @ ? # % %2F %zz [ ] [::1] é \u00ff xn-- 1.2.3.4 0x7f . www. " < > \\ ^ ` { | } & = ; , * ! ) ( ~ + a';
    const piece = fc.constantFrom(...pieces.split(" "));
    const rest = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(""));
    const heads =
      "/timemap/link/ /timemap/json/ /timemap/cdxj/2/ /timegate/ /memento/2015/ /memento/json/2015/ /api/link/2015/ /route/ /summary/ /memento/proxy/2015/ /";
    const head = fc.constantFrom(...heads.split(" "));
    const prefer = fc.constantFrom(
      "",
      'Prefer: archives="one, two"\r\n',
      "Referer: http://[\r\n",
      "Accept-Datetime: Thu, 01 Jan 2015 00:00:00 GMT\r\n",
      'Prefer: ,,;="\r\n',
      "Host: []\r\n",
    );
    await fc.assert(
      fc.asyncProperty(head, rest, prefer, async (path, text, header) => {
        const answer = await rawGet(url, Buffer.from(`${path}${text}`).toString("latin1"), header);
        expect(answer).toMatch(/^HTTP\/1\.1 (?:200|302|400|404|502) /);
      }),
      { numRuns: 300 },
    );
  });
});
