// How quickly a reader sees a map: a file of 100 MB that is opened in the browser, in every form, and parts
// of a map of 5 million rows that a server has.
//
//   npx tsx bench/page.ts [--lines 5000000] [--served 22000000] [--map FILE] [--served-map FILE]
//
// Maps are generated of a sample archive. `opened` is from choosing the file until its parts are drawn,
// `longest pause` how long the page did not draw a frame meanwhile. `zoom` is from a click on a rectangle
// until the next frame, and until the slice of the server is drawn.
import { execFile } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs, promisify } from "node:util";
import { createGzip } from "node:zlib";
import puppeteer, { type Page } from "puppeteer-core";
import { listen } from "../src/http/listen.ts";
import { createPublisher } from "../src/publish/serve/publisher.ts";
import { CHROMIUM } from "../test/support/chromium.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { sampleIndex } from "./corpus.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";
import { mementomap } from "./peers/mementomap.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "5000000" },
    served: { type: "string", default: "22000000" },
    map: { type: "string" },
    "served-map": { type: "string" },
  },
});
const folder = await benchFolder();
const run = promisify(execFile);

/** The same file as `bench/explore.ts` makes. */
const mapOf = (lines: string): Promise<string> =>
  madeOnce(folder, `explore-${lines}.ukvs`, async (target) => {
    const index = await sampleIndex(folder, Number(lines));
    await mementomap("generate", "-q", index, "-o", target);
    await rm(index);
  });

const text = values.map ?? (await mapOf(values.lines));
const name = basename(text);
const forms: (readonly [form: string, path: string])[] = [["text", text]];
const gzipped = await madeOnce(folder, `${name}.gz`, (path) =>
  pipeline(createReadStream(text), createGzip(), createWriteStream(path)),
);
forms.push(["gzip", gzipped]);
try {
  const path = await madeOnce(folder, `${name}.zst`, (target) =>
    run("zstd", ["-q", "-f", text, "-o", target]),
  );
  forms.push(["zstd", path]);
} catch {
  console.error("zstd is not installed; without it");
}
const packed = await madeOnce(folder, `${name}.packed`, (path) =>
  mementomap("pack", "-q", "--force", text, "--bits", "8", "-o", path),
);
forms.push(["packed", packed]);

const publisher = await createPublisher(
  [{ id: "served", path: values["served-map"] ?? (await mapOf(values.served)) }],
  { reloadEveryMs: 0 },
);
const server = await listen(publisher, { port: 0 });
const browser = await puppeteer.launch({
  executablePath: CHROMIUM ?? "chromium",
  args: ["--no-sandbox"],
});

const rows: string[][] = [];
for (const [form, path] of forms) {
  const page = await newPage();
  await page.goto(`${server.url}/explore`);
  await page.waitForSelector(".tile", { timeout: 120_000 });
  await page.evaluate(`window.pause = 0; let last = performance.now();
    (function frame() { const now = performance.now(); window.pause = Math.max(window.pause, now - last); last = now; requestAnimationFrame(frame); })()`);
  const start = performance.now();
  await (await page.$("input[type=file]"))?.uploadFile(path);
  const own = encodeURIComponent(basename(path));
  await page.waitForFunction(
    `location.search.includes(${JSON.stringify(own)}) && document.querySelector("[aria-busy=true]") === null && document.querySelector(".explorer .tile, .packed") !== null`,
    { timeout: 300_000, polling: 10 },
  );
  const took = performance.now() - start;
  const pause = Number(await page.evaluate("window.pause"));
  const { size } = await stat(path);
  rows.push([form, (size / 1e6).toFixed(1), (took / 1000).toFixed(2), pause.toFixed(0)]);
  await page.close();
}
const views = await firstViews();
const zooms = await zoomTimes(await newPage());
await browser.close();
await server.stop();
await publisher.close();

console.log(`${machine()}\n`);
console.log(markdownTable(["file", "MB", "opened, s", "longest pause, ms"], rows));
console.log(markdownTable(["first view of", "median, ms", "slowest, ms"], views));
console.log(
  markdownTable(
    ["zoom", "median, ms", "slowest, ms"],
    (["next frame", "slice drawn"] as const).map((what) => [what, ...medianAndMost(zooms[what])]),
  ),
);

/** A page that runs our scripts, which its policy does not allow. */
async function newPage(context: { newPage(): Promise<Page> } = browser): Promise<Page> {
  const page = await context.newPage();
  await page.setBypassCSP(true);
  return page;
}

function medianAndMost(times: readonly number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [sorted[sorted.length >> 1], Math.max(...times)].map((ms) => ms.toFixed(0));
}

/** From asking for a page until its content is drawn, in a browser that has nothing in its cache. */
async function firstViews(): Promise<string[][]> {
  const measured: string[][] = [];
  for (const view of ["", "explore"]) {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const context = await browser.createBrowserContext();
      const page = await newPage(context);
      const start = performance.now();
      await page.goto(`${server.url}/${view}`);
      await page.waitForSelector(view === "" ? "#url" : ".tile");
      await page.waitForFunction("performance.getEntriesByType('paint').length === 2");
      times.push(performance.now() - start);
      await context.close();
    }
    measured.push([`/${view}`, ...medianAndMost(times)]);
  }
  return measured;
}

/** Goes into the largest rectangles of the served map, each from the whole of it. */
async function zoomTimes(page: Page): Promise<Record<"next frame" | "slice drawn", number[]>> {
  const times: Record<"next frame" | "slice drawn", number[]> = {
    "next frame": [],
    "slice drawn": [],
  };
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  for (let place = 0; place < 12; place += 1) {
    await page.goto(`${server.url}/explore`);
    await page.waitForSelector(".tile");
    await page.waitForFunction(`document.querySelector(".explorer[aria-busy=false]") !== null`);
    const [frame = 0, drawn = 0] = (await page.evaluate(`(async () => {
      const tile = document.querySelectorAll(".tile.opens")[${place}];
      if (tile === undefined) return [0, 0];
      const start = performance.now();
      tile.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const frame = performance.now() - start;
      while (document.querySelector(".explorer[aria-busy=false]") === null) await new Promise((resolve) => setTimeout(resolve, 1));
      return [frame, performance.now() - start];
    })()`)) as number[];
    times["next frame"].push(frame);
    times["slice drawn"].push(drawn);
  }
  return times;
}
