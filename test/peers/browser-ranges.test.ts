import { build } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHROMIUM } from "../support/chromium.ts";
import { ROOT } from "../support/code-blocks.ts";
import { launchBrowser } from "../support/page-browsers.ts";
import { copiesReady, serving } from "../support/serving.ts";

const ROWS = Array.from({ length: 20_000 }, (_, i) => `com,h${i + 10_000})/ ${i}\n`);
const MAP = `!fields {"keys":["surt"],"values":["frequency"]}\n${ROWS.join("")}`;

describe.skipIf(CHROMIUM === undefined)("range requests in Chromium", () => {
  it("are of the map itself, whatever form of it the browser has in its cache", async () => {
    const published = await serving(MAP);
    const elsewhere = await serving();
    await copiesReady(published);
    const map = `${published.url}/.well-known/mementomap`;
    const browser = await launchBrowser("chromium", "light");
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.setBypassCSP(true);
    const sites: [string, unknown][] = [
      [published.url, expect.stringMatching(/^(?:gzip|zstd)$/)],
      // Other sites do not see the header.
      [elsewhere.url, null],
    ];
    for (const [site, coding] of sites) {
      await page.goto(site);
      await page.addScriptTag({ content: await bundle() });
      const found = await page.evaluate(`(async () => {
        const whole = await fetch(${JSON.stringify(map)}, { cache: "force-cache" });
        const size = (await whole.text()).length;
        const search = await mementomap.openRemoteMap(new mementomap.FetchClient(), ${JSON.stringify(map)});
        const answers = [];
        for (const host of ["h10000", "h17654", "h29999", "h5"]) {
          answers.push((await search.lookup.lookup("http://" + host + ".com/")).frequency ?? null);
        }
        const opened = await mementomap.openMap(${JSON.stringify(map)});
        const held = await opened.has("http://h17654.com/");
        const dropped = await mementomap.openMap(new File([await (await fetch(${JSON.stringify(map)})).blob()], "map"));
        let rows = 0;
        for await (const row of dropped) rows += row.frequency === "" ? 0 : 1;
        const coding = whole.headers.get("content-encoding");
        return { coding, size, read: search.source.size, answers, held, rows };
      })()`);
      expect(found).toEqual({
        coding,
        size: MAP.length,
        read: MAP.length,
        answers: ["0", "7654", "19999", null],
        held: true,
        rows: ROWS.length,
      });
    }
  });
});

/** Parts of the library as a script for web pages. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `
        export { openMap } from "./src/index.ts";
        export { FetchClient } from "./src/http/http-client.ts";
        export { openRemoteMap } from "./src/publish/fetch/remote-map.ts";
      `,
      resolveDir: ROOT,
      loader: "ts",
    },
    bundle: true,
    platform: "browser",
    format: "iife",
    globalName: "mementomap",
    target: "es2022",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}
