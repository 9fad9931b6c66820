import { readdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Analysis } from "../../../src/study/analyze/analysis.ts";
import { analyzeIndex } from "../analyze/analyze-index.ts";
import { analysisReport } from "../../../src/study/report/analysis/analysis.ts";
import { reportHtml } from "../../../src/study/report/html.ts";
import { logsReport } from "../../../src/study/report/logs.ts";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { memgatorLog } from "../logs/memgator-lines.ts";
import { axeFaults } from "../../support/axe.ts";
import { CHROMIUM } from "../../support/chromium.ts";
import { focus, launchBrowser, textsOf } from "../../support/page-browsers.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const RUN = {
  generator: "test",
  at: "2026-01-02T03:04:05.678Z",
  inputs: { inputs: ["index.cdxj"] },
  filters: { status: ["200"] },
};
const ODD =
  'com,odd)/a 20041301000000 {"url":"http://odd.com/<script>alert(1)</script>","mime":"</script><b>","status":"2000"}\n';

function analysisOf(text: string, sample: Iterable<Uint8Array> = []): Promise<Analysis> {
  return analyzeIndex([{ name: "index.txt", chunks: [...sample, Buffer.from(text)] }]);
}

function sampleAnalysis(): Promise<Analysis> {
  return analysisOf(ODD, sampleIndex({ lines: 8000 }));
}

interface DrawnFigure {
  readonly id: string;
  readonly isDrawn: boolean;
  readonly isBroken: boolean;
  readonly hasName: boolean;
  readonly rows: number;
  readonly tips: number;
}

/** Runs in the page; a text, because the types of this project know no browser. */
const DRAWN_FIGURES = `[...document.querySelectorAll("figure.chart")].map((figure) => {
  const svg = figure.querySelector("svg.drawing");
  const boxes = [...svg.querySelectorAll("path,rect,circle")].map((mark) => mark.getBBox());
  return {
    id: figure.id,
    isDrawn: boxes.some(({ width, height }) => width > 1 && height > 1),
    isBroken: /NaN|undefined|Infinity/.test(svg.outerHTML),
    hasName: svg.getAttribute("aria-label").length > 20,
    rows: figure.querySelectorAll("details tbody tr").length,
    tips: svg.querySelectorAll("[data-tip]").length,
  };
})`;

/** Labels of a drawing that lie over one another, without the air above and below their letters. */
const OVERLAPPING_LABELS = `[...document.querySelectorAll("svg")].flatMap((svg) => {
  const labels = [...svg.querySelectorAll("text")].map((label) => {
    const { left, right, top, bottom, height } = label.getBoundingClientRect();
    return { text: label.textContent, left, right, top: top + height / 4, bottom: bottom - height / 4 };
  });
  return labels.flatMap((a, i) =>
    labels.slice(i + 1)
      .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      .map((b) => a.text + " over " + b.text));
})`;

/** What a page did that a report must not do. */
interface Watched {
  readonly page: Page;
  readonly complaints: string[];
}

interface OpenOptions {
  readonly width?: number;
  readonly isPhone?: boolean;
  readonly scheme?: "light" | "dark";
}

describe.skipIf(CHROMIUM === undefined)("reports in Chromium (none found: skipped)", () => {
  let browser: Browser;
  let analysis: Analysis;

  beforeAll(async () => {
    [browser, analysis] = await Promise.all([launchBrowser("chromium", "light"), sampleAnalysis()]);
  });
  afterAll(async () => {
    await browser.close();
  });

  async function open(
    html: string,
    { width = 1280, isPhone = false, scheme = "light" }: OpenOptions = {},
  ): Promise<Watched> {
    const path = join(scratchDir(), "report.html");
    writeFileSync(path, html);
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.setViewport({ width, height: 800, isMobile: isPhone, hasTouch: isPhone });
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${String(error)}`));
    const url = pathToFileURL(path).href;
    page.on("request", (request) => {
      if (request.url() !== url && !/^(data|blob):/.test(request.url())) {
        complaints.push(`request: ${request.url()}`);
      }
    });
    await page.goto(url);
    return { page, complaints };
  }

  /** What an expression is in the page. */
  const valueIn = async <Value>(page: Page, source: string): Promise<Value> =>
    (await page.evaluate(source)) as Value;

  const textOf = async (page: Page, selector: string): Promise<string> =>
    (await textsOf(page, selector))[0] ?? "";

  /** Clicks; gives the file that the page offers then. */
  async function downloaded(page: Page, selector: string): Promise<{ name: string; path: string }> {
    const folder = scratchDir();
    const session = await page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      downloadPath: folder,
      eventsEnabled: true,
    });
    const done = new Promise<void>((resolve) => {
      session.on("Browser.downloadProgress", ({ state }) => {
        if (state === "completed") resolve();
      });
    });
    await page.click(selector);
    await done;
    const [name = ""] = readdirSync(folder);
    return { name, path: join(folder, name) };
  }

  const report = (): string => reportHtml(analysisReport(analysis, "T"), RUN);

  it("draws every chart, asks for nothing, complains of nothing", async () => {
    const { page, complaints } = await open(report());
    const figures = await valueIn<DrawnFigure[]>(page, DRAWN_FIGURES);
    const blocks = analysisReport(analysis, "T").sections.flatMap((section) =>
      section.blocks.flat(),
    );
    const drawn = blocks.flatMap((block) =>
      "figure" in block && block.figure !== undefined ? [block.id] : [],
    );
    expect(figures.map(({ id }) => id)).toEqual(drawn);
    expect(drawn.length).toBe(16);
    for (const figure of figures) {
      expect(figure).toMatchObject({ isDrawn: true, isBroken: false, hasName: true });
      expect(figure.rows).toBeGreaterThan(1);
      expect(figure.tips).toBeGreaterThan(1);
    }
    expect(complaints).toEqual([]);
  });

  it.each([
    ["desktop", {}],
    ["phone", { width: 360, isPhone: true }],
    ["dark", { scheme: "dark" }],
  ] as const)("fits the window: %s", async (_, options) => {
    const { page, complaints } = await open(report(), options);
    const width = await valueIn<number>(page, "document.documentElement.scrollWidth");
    const inner = await valueIn<number>(page, "innerWidth");
    expect(width).toBeLessThanOrEqual(inner);
    expect(await valueIn(page, OVERLAPPING_LABELS)).toEqual([]);
    const top = await valueIn<number>(
      page,
      "document.querySelector('h1').getBoundingClientRect().top",
    );
    expect(top).toBeGreaterThan(15);
    expect(complaints).toEqual([]);
  });

  it("says nothing of dark and light, which are the other way round in the dark", () => {
    expect(report()).not.toMatch(/\b(?:darker|lighter)\b/i);
  });

  it("is dark where the reader wants it", async () => {
    const shade = async (scheme: "light" | "dark"): Promise<number> => {
      const { page } = await open(report(), { scheme });
      const color = await valueIn<string>(page, "getComputedStyle(document.body).backgroundColor");
      return Number(/\d+/.exec(color)?.[0]);
    };
    expect(await shade("light")).toBeGreaterThan(200);
    expect(await shade("dark")).toBeLessThan(60);
  });

  it("hides what paper has no use for", async () => {
    const { page } = await open(report());
    await page.emulateMediaType("print");
    const isVisible = async (selector: string): Promise<boolean | undefined> =>
      (await page.$(selector))?.isVisible();
    expect(await isVisible("nav")).toBe(false);
    expect(await isVisible("#download")).toBe(false);
    expect(await isVisible("#growth-curve svg.drawing")).toBe(true);
    // Browsers repeat a foot on every page: the sum of a table would stand in its middle.
    const foot = "getComputedStyle(document.querySelector('#year-table tfoot')).display";
    expect(await valueIn(page, foot)).toBe("table-row-group");
    const cut = `[...document.querySelectorAll(".tiles dd")].filter((tile) => tile.scrollWidth > tile.clientWidth).length`;
    await page.setViewport({ width: 700, height: 900 });
    expect(await valueIn(page, cut)).toBe(0);
  });

  it("sorts tables by number and by name, both ways, and keeps sums below", async () => {
    const { page } = await open(report());
    const column = (index: number): Promise<string[]> =>
      textsOf(page, `#year-table tbody tr > :nth-child(${index})`);
    const numbers = async (index: number): Promise<number[]> =>
      (await column(index)).map((text) => Number(text.replaceAll(",", "")));
    const heading = "#year-table thead th:nth-child(4) button";
    await page.click(heading);
    const falling = await numbers(4);
    expect(falling).toEqual(falling.toSorted((a, b) => b - a));
    await page.click(heading);
    const rising = await numbers(4);
    expect(rising).toEqual(falling.toReversed().toSorted((a, b) => a - b));
    await page.click("#year-table thead button");
    expect(await column(1)).toEqual(analysis.years.map(({ year }) => String(year)));
    expect(await textOf(page, "#year-table tfoot th")).toBe("All");
  });

  it("shows a value under the pointer", async () => {
    const { page } = await open(report());
    await page.hover("#mime-status rect[data-tip]");
    expect(await textOf(page, "#tip")).toMatch(/^HTML × 2xx: [\d,]+$/);
  });

  it("keeps the value of a tap until the next tap", async () => {
    const { page } = await open(report(), { width: 390, isPhone: true });
    const shown = async (): Promise<string> =>
      valueIn<string>(page, "getComputedStyle(document.getElementById('tip')).opacity");
    // What scrolls the page hides the value, so it is scrolled to before the tap.
    const tap = async (selector: string): Promise<void> => {
      await focus(page, selector);
      await page.evaluate("new Promise((done) => setTimeout(done, 200))");
      await page.evaluate(`(() => {
        const target = document.querySelector(${JSON.stringify(selector)});
        const { x, y } = target.getBoundingClientRect();
        const how = { bubbles: true, pointerType: "touch", clientX: x + 1, clientY: y + 1 };
        for (const type of ["pointerdown", "pointerup", "pointerleave"]) target.dispatchEvent(new PointerEvent(type, how));
      })()`);
    };
    await tap("#mime-status rect[data-tip]");
    await expect.poll(() => textOf(page, "#tip")).toMatch(/^HTML × 2xx: /);
    await expect.poll(shown).toBe("1");
    await tap("#mime-status figcaption");
    await expect.poll(shown).toBe("0");
  });

  it("reads values by the arrow keys", async () => {
    const { page } = await open(report());
    await focus(page, "#mime-status svg.drawing");
    await page.keyboard.press("ArrowRight");
    const first = await textOf(page, "#tip");
    await page.keyboard.press("ArrowRight");
    expect(await textOf(page, "#tip")).not.toBe(first);
    await page.keyboard.press("ArrowLeft");
    expect(await textOf(page, "#tip")).toBe(first);
  });

  it("has letters of at least 11 px in charts, on phones too", async () => {
    for (const width of [360, 390, 768, 1440]) {
      const { page } = await open(report(), { width });
      const least = await valueIn<number>(
        page,
        `Math.min(...[...document.querySelectorAll("svg.drawing text")].map((text) =>
          Number.parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a))`,
      );
      expect(least, `at ${width}`).toBeGreaterThanOrEqual(11);
      expect(await valueIn(page, OVERLAPPING_LABELS), `at ${width}`).toEqual([]);
    }
  });

  it("gives every series a marker of its own, and depths the colours of an order", async () => {
    const { page } = await open(report());
    const shapes = await page.$$eval("#global-path .legend path.dot", (dots) =>
      dots.map((dot) => `${dot.getAttribute("d")} ${dot.getAttribute("class")}`),
    );
    expect(shapes.length).toBeGreaterThan(2);
    expect(new Set(shapes).size).toBe(shapes.length);
    expect(shapes.every((shape) => /\bo\d$/.test(shape))).toBe(true);
  });

  it("says what the colours of a heat map stand for", async () => {
    const { page } = await open(report());
    const scale = await textsOf(page, "#month-map .legend li");
    expect(scale.slice(0, 2)).toEqual(["none", "from 1"]);
  });

  async function saved(kind: string): Promise<Buffer> {
    const { page, complaints } = await open(report());
    const button = `#growth-curve > .tools button ::-p-text(${kind.toUpperCase()})`;
    const { name, path } = await downloaded(page, button);
    expect(name).toBe(`growth-curve.${kind}`);
    expect(complaints).toEqual([]);
    return readFile(path);
  }

  it("saves the numbers of a chart", async () => {
    const [head, first] = (await saved("csv")).toString().split("\r\n");
    expect(head).toBe("Month,Mementos,Originals");
    expect(first).toBe(Object.values(analysis.growth[0] ?? {}).join(","));
  });

  it("saves a chart as a drawing with a style of its own", async () => {
    const text = (await saved("svg")).toString();
    expect(text).toContain(">Cumulative growth</text>");
    expect(text).toContain(">originals</text>");
    expect(text).not.toMatch(/var\(|data-tip/);
    const drawn = await browser.newPage();
    await drawn.goto(`data:image/svg+xml,${encodeURIComponent(text)}`);
    expect((await drawn.$$("svg path")).length).toBeGreaterThan(2);
    await drawn.close();
  });

  it("writes no cell into CSV that a spreadsheet would run", async () => {
    const line = 'com,a)/ 20040511101112 {"url":"http://a.com/","mime":"=cmd|x","status":"200"}\n';
    const small = await analysisOf(line);
    const { page } = await open(reportHtml(analysisReport(small, "Small"), RUN));
    const { path } = await downloaded(page, "#mime-types + .tools button ::-p-text(CSV)");
    expect(await readFile(path, "utf8")).toContain("'=cmd|x,1");
  });

  it.each([
    ["light", 1440],
    ["dark", 390],
  ] as const)("has nothing that axe-core finds fault with: %s", async (scheme, width) => {
    const { page } = await open(report(), { scheme, width });
    expect(await axeFaults(page)).toEqual([]);
  });

  it("says in words that there are no datetimes, and draws no empty charts", async () => {
    const timeless = await analysisOf("http://a.com/\nhttp://b.com/x\n");
    const { page } = await open(reportHtml(analysisReport(timeless, "List"), RUN));
    expect((await page.$$("#growth figure")).length).toBe(0);
    expect(await textOf(page, "#growth .card")).toContain("No capture has a datetime");
  });

  it("gives its data as a file, equal to --json", async () => {
    const { page } = await open(report());
    const { name, path } = await downloaded(page, "#download");
    expect(name).toBe("analysis.json");
    const text = await readFile(path, "utf8");
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ ...analysis, run: RUN })));
  });

  it("shows an archive of one day: points for curves, and no 1 originals", async () => {
    const line =
      'com,a)/ 20040511101112 {"url":"http://a.com/","mime":"text/html","status":"200"}\n';
    const small = await analysisOf(line);
    const { page, complaints } = await open(reportHtml(analysisReport(small, "Small"), RUN));
    expect(await textOf(page, ".lead")).toMatch(
      /^1 memento of 1 original on 1 host, captured on 2004-05-11\. /,
    );
    expect(await textOf(page, ".tiles")).toContain("Coverage2004-05-111 year with captures");
    expect((await page.$$("#growth-curve path.dot.solid")).length).toBe(2);
    expect(await textsOf(page, "#growth-curve .tick")).toEqual(
      expect.arrayContaining(["2004", "2005"]),
    );
    expect(complaints).toEqual([]);
  });

  it("draws the paper's sweep", async () => {
    const folder = scratchDir();
    const [index, truth, lookups, target] = ["i.cdxj", "m.ukvs", "u.txt", "r.html"].map((name) =>
      join(folder, name),
    );
    writeFileSync(index, Buffer.concat([...sampleIndex({ lines: 5000 })]));
    writeFileSync(lookups, "http://example.com/a\n");
    await runCli(["generate", "-q", index, "-o", truth]);
    const given = ["--sweep", "paper", "--truth", truth, "--lookups", lookups, "--html", target];
    expect(await runCli(["evaluate", ...given])).toMatchObject({ code: 0 });
    const { page, complaints } = await open(await readFile(target, "utf8"));
    const figures = await valueIn<DrawnFigure[]>(page, DRAWN_FIGURES);
    const ids = ["cost-accuracy", "size-accuracy", "processed-produced"];
    expect(figures).toMatchObject(ids.map((id) => ({ id, isDrawn: true, isBroken: false })));
    expect((await page.$$("#map-table tbody tr")).length).toBe(37);
    expect(await textOf(page, ".tiles")).toMatch(/Best accuracy by key[\d.]+/);
    expect(complaints).toEqual([]);
  });

  it.each([360, 1280])("draws the logs, with the whole names of archives, at %i", async (width) => {
    const archives = ["web.archive.org", "wayback.archive-it.org", "www.webarchive.org.uk"];
    const log = memgatorLog([
      { uri: "http://a.com/", replies: archives.map((archive) => ({ archive, mementos: 3 })) },
      { uri: "http://a.com/gone", replies: [{ archive: "pt", mementos: 0 }] },
    ]);
    const { stdout } = await runCli(["logs", "--json"], { stdin: log });
    const html = reportHtml(logsReport(JSON.parse(stdout)), RUN);
    const { page, complaints } = await open(html, { width, isPhone: width < 500 });
    expect((await page.$$("#archive-bars svg.drawing rect")).length).toBe(4);
    expect((await page.$$("#overlap-map svg.drawing rect")).length).toBeGreaterThan(3);
    expect(await textOf(page, "#missing-table tbody th")).toBe("http://a.com/gone");
    const names = await textsOf(page, "#archive-bars svg .name");
    expect(names).toEqual(expect.arrayContaining(archives));
    expect(await valueIn(page, OVERLAPPING_LABELS)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe("the report", () => {
  it("holds nothing that an index could break out with, and no address to fetch", async () => {
    const html = reportHtml(analysisReport(await sampleAnalysis(), "<T>"), RUN);
    expect(html).not.toContain("<script>alert");
    expect(html).not.toContain("</script><b>");
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).not.toMatch(/(?:src|href)="(?!#|data:)/);
    expect(html).toContain("default-src 'none'");
  });

  it("says what made it, when, of what and with which filters", async () => {
    const html = reportHtml(analysisReport(await sampleAnalysis(), "T"), RUN);
    expect(html).toContain(
      "Made by test on 2026-01-02 at 03:04 UTC from inputs index.cdxj, with status 200.",
    );
  });

  it("is written by the command, beside the tables", async () => {
    const folder = scratchDir();
    const index = join(folder, "index.cdxj");
    writeFileSync(index, Buffer.concat([...sampleIndex({ lines: 500 })]));
    const target = join(folder, "report.html");
    const { code, stdout } = await runCli(["analyze", "-q", "--html", target, index]);
    expect(code).toBe(0);
    const html = await readFile(target, "utf8");
    expect(html).toContain("<h1>What index.cdxj holds</h1>");
    expect(html).toContain("Bytes of the index files");
    expect(html).toMatch(/Made by mementomap\/\S+ on \d{4}-\d\d-\d\d at .*, without filters\./);
    expect(stdout).toMatch(/^Mementos +500$/m);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each([3, 30])("lists as many as --top says, in the terminal too: %i", async (top) => {
    const folder = scratchDir();
    const index = join(folder, "index.cdxj");
    writeFileSync(index, Buffer.concat([...sampleIndex({ lines: 20_000 })]));
    const { stdout } = await runCli(["analyze", "-q", "--top", String(top), index]);
    const [, hosts = ""] = stdout.split("Most archived hosts\n");
    const lines = hosts.slice(0, hosts.indexOf("\n\n")).split("\n");
    expect(lines.filter((line) => line.includes(")/*"))).toHaveLength(top);
  });
});
