import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../../src/http/listen.ts";
import { createPublisher } from "../../../src/publish/serve/publisher.ts";
import { DEMO_URL, demoArchives } from "../../support/demo-archives.ts";
import { servingDemo } from "../../support/demo-service.ts";
import {
  BROWSERS,
  expectSound,
  launchBrowser,
  openPage,
  type TestedPage,
  until,
} from "../../support/page-browsers.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

const WIDTHS = [390, 768, 1440];
const ASKED = `?url=${encodeURIComponent(DEMO_URL)}`;

const cases = BROWSERS.flatMap((name) =>
  (["light", "dark"] as const).map((scheme) => ({ name, scheme })),
);

const textOf = ({ page }: TestedPage, selector: string): Promise<unknown> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);

describe.each(cases)("the page in $name, $scheme", ({ name, scheme }) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser(name, scheme);
  });

  afterAll(() => browser.close());

  it.each(WIDTHS)("finds archives, %d pixels wide", async (width) => {
    const url = await servingDemo(await demoArchives());
    const open = await openPage(browser, `${url}/`, { width, scheme });
    await open.page.waitForSelector("nav a[aria-current]");
    await open.page.waitForSelector(".settings-bar");
    await expectSound(open);
    await open.page.type("#url", DEMO_URL);
    await until(open.page, "document.querySelectorAll('.finding').length === 6");
    expect(open.page.url()).toBe(`${url}/`);
    await open.page.click("form button");
    // Until the last key is answered, findings are those of a shorter address.
    const words = (): Promise<unknown> =>
      open.page.evaluate(
        "[...new Set([...document.querySelectorAll('.finding .state')].map((each) => each.textContent))].join()",
      );
    await expect.poll(words).toBe("Held,Possibly held,Not known,Not held");
    await expect
      .poll(() => open.page.evaluate("document.querySelector('.findings').textContent"))
      .toContain("Its folder news.example.org/2016/ has 264 captures");
    expect(open.page.url()).toBe(`${url}/${ASKED}`);
    await expectSound(open);
    await open.page.close();
  });

  it.each(WIDTHS)("shows mementos over time, %d pixels wide", async (width) => {
    const url = await servingDemo(await demoArchives());
    const open = await openPage(browser, `${url}/${ASKED}`, { width, scheme });
    const { page } = open;
    await until(page, "document.querySelector('progress.is-over') !== null");
    await expect
      .poll(() => textOf(open, ".progress-line"))
      .toMatch(/^1,550 mementos · 4 archives responded · 1 did not respond · 1 skipped/);
    await page.click("section details summary");
    const rows = await textOf(open, "section details");
    expect(rows).toContain("Not in its map.");
    expect(rows).toContain("status 503");
    const before = await textOf(open, ".chosen-memento time");
    await page.click(".chosen-actions button");
    await until(
      page,
      `document.querySelector(".chosen-memento time").innerText !== ${JSON.stringify(before)}`,
    );
    await until(page, "location.search.includes('at=')");
    await page.click(".archive-rows input");
    await until(page, "document.querySelector('.row').getAttribute('aria-setsize') === '310'");
    await expectSound(open);
    await page.close();
  });

  it("puts two mementos side by side, in sandboxes", async () => {
    const url = await servingDemo(await demoArchives());
    const { page, faults } = await openPage(browser, `${url}/${ASKED}`, {
      width: 1440,
      scheme,
    });
    await until(page, "document.querySelector('progress.is-over') !== null");
    const pick = ".chosen-actions button:last-child";
    await page.click(pick);
    await page.click(".chosen-actions button");
    await page.click(pick);
    await until(page, "document.querySelectorAll('.sides iframe').length === 2");
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('iframe')].map((each) => each.getAttribute('sandbox')).join()",
      ),
    ).toBe("allow-scripts,allow-scripts");
    expect(faults).toEqual([]);
    await page.close();
  });

  it.each(WIDTHS)("explores and compares maps, %d pixels wide", async (width) => {
    const publisher = await createPublisher(
      [
        { id: "old", bytes: Buffer.from(EXAMPLE_MAP.replace("Example", "Older")) },
        { id: "new", bytes: Buffer.from(`${EXAMPLE_MAP}us,ia)/ 7\n`) },
      ],
      { reloadEveryMs: 0 },
    );
    const server = await listen(publisher, { port: 0 });
    onTestFinished(async () => {
      await server.stop();
      await publisher.close();
    });
    const open = await openPage(browser, `${server.url}/explore?map=new`, { width, scheme });
    const { page } = open;
    await until(page, "document.querySelectorAll('.parts tbody tr').length === 4");
    await expectSound(open);
    await page.evaluate("document.querySelector('.tile.opens').focus()");
    await page.keyboard.press("Enter");
    await until(page, "document.querySelector('.crumbs').innerText.includes('com')");
    await expect.poll(() => textOf(open, ".names")).toContain("com,");
    expect(page.url()).toContain("prefix=com%2C");
    await page.goto(`${server.url}/compare?map=old&map=new`);
    await until(page, "document.querySelector('.upset') !== null");
    await expect.poll(() => textOf(open, ".compared .facts")).toContain("+1");
    await expectSound(open);
    await page.goto(`${server.url}/about`);
    await until(page, "document.querySelectorAll('.published').length === 2");
    await expectSound(open);
    await page.close();
  });

  it.skipIf(name !== "chromium")("prints what is shown, without controls, on white", async () => {
    const url = await servingDemo(await demoArchives());
    const { page } = await openPage(browser, `${url}/${ASKED}`, { width: 768, scheme });
    await until(page, "document.querySelector('progress.is-over') !== null");
    await page.emulateMediaType("print");
    const style = (selector: string, property: string): Promise<unknown> =>
      page.evaluate(`getComputedStyle(document.querySelector("${selector}")).${property}`);
    expect(await style("body", "backgroundColor")).toBe("rgb(255, 255, 255)");
    for (const control of [".bar nav", ".settings-bar", ".chosen-actions", ".downloads"]) {
      expect(await style(control, "display")).toBe("none");
    }
    await page.close();
  });

  it("goes from view to view without loading, and shows the dashboard", async () => {
    const url = await servingDemo(await demoArchives());
    const open = await openPage(browser, `${url}/`, { width: 768, scheme });
    const { page } = open;
    await page.waitForSelector(".settings-bar");
    await page.evaluate("window.isSame = true");
    // Every view can be seen in the navigation, in German, too, whose words are longer.
    for (const language of ["de", "en"]) {
      await page.select(".settings-bar select:last-child", language);
      await until(page, `document.documentElement.lang === "${language}"`);
      for (const width of [390, 768, 1440]) {
        await page.setViewport({ width, height: 900 });
        const nav = "document.querySelector('.bar nav')";
        const cut = await page.evaluate(`${nav}.scrollWidth - ${nav}.clientWidth`);
        expect({ language, width, cut }).toEqual({ language, width, cut: 0 });
      }
    }
    await page.setViewport({ width: 768, height: 900 });
    for (const view of ["explore", "compare", "about", "search"]) {
      await page.click(`nav a[href="${view === "search" ? "/" : `/${view}`}"]`);
      await until(
        page,
        `document.querySelector("main.view-${view} h1") !== null && document.querySelector("main[aria-busy=true]") === null`,
      );
      // The maps that the aggregator goes by.
      if (view === "explore") {
        await page.select(".map-bar select", "long");
        await until(page, "document.querySelector('.parts tbody')?.innerText.includes('org')");
      }
      if (view === "compare") await until(page, "document.querySelector('.upset') !== null");
      await expectSound(open);
    }
    expect(await page.evaluate("window.isSame")).toBe(true);
    await page.click('nav a[href="/about"]');
    await until(
      page,
      "document.querySelector('.archives')?.innerText.includes('The Long Archive')",
    );
    await page.evaluate(`fetch("/timemap/link/${DEMO_URL}")`);
    // Renewed by itself.
    await until(page, "document.querySelectorAll('figure.chart').length === 2");
    await expect.poll(() => textOf(open, ".facts")).toMatch(/Lookups\s+1\s/);
    await page.click(".card-head .quiet:last-child");
    await until(page, "document.querySelector('.chart-pair').innerText.includes('hours ago')");
    await expectSound(open);
    await page.close();
  });

  it("keeps what was typed before the script ran", async () => {
    const { url } = await serving();
    const page = await browser.newPage();
    await page.evaluateOnNewDocument(`new MutationObserver((_, observer) => {
      const input = document.querySelector("#url");
      if (input === null) return;
      observer.disconnect();
      input.value = "arxiv.org";
    }).observe(document, { childList: true, subtree: true });`);
    await page.goto(url);
    await until(page, "document.querySelector('.finding') !== null");
    expect(await page.evaluate("document.querySelector('#url').value")).toBe("arxiv.org");
    await page.close();
  });

  it("speaks German and changes its colours where the reader wants it", async () => {
    const { url } = await serving();
    const open = await openPage(browser, `${url}/?url=arxiv.org`, { width: 390, scheme });
    const { page } = open;
    await page.waitForSelector(".settings-bar select:last-child");
    await page.select(".settings-bar select:last-child", "de");
    await until(page, "document.documentElement.lang === 'de'");
    await expect.poll(() => textOf(open, "nav")).toContain("Suche");
    await expect.poll(() => textOf(open, ".findings")).toContain("100 Aufnahmen");
    await page.select(".settings-bar select", scheme === "dark" ? "light" : "dark");
    const paper = "getComputedStyle(document.body).backgroundColor";
    await expect
      .poll(() => page.evaluate(paper))
      .toBe(scheme === "dark" ? "rgb(247, 245, 240)" : "rgb(20, 23, 26)");
    await expectSound(open);
    await page.evaluate("localStorage.clear()");
    await page.close();
  });

  it("shows what is hostile as text", async () => {
    const { url } = await serving(
      EXAMPLE_MAP.replace("Example Archive", "<script>alert(1)</script>"),
    );
    for (const hostile of [
      '"><script>alert(2)</script>',
      "javascript:alert(3)",
      "http://xn--80ak6aa92e.com/\u202Egpj.exe",
      `http://example.com/${"a".repeat(2000)}`,
    ]) {
      const address = `${url}/?url=${encodeURIComponent(hostile)}`;
      const open = await openPage(browser, address, { width: 390, scheme });
      await until(
        open.page,
        "document.querySelector('.finding, .fault, .find-card .hint') !== null",
      );
      expect(String(await textOf(open, ".uri-note")).includes("U+202E")).toBe(
        hostile.includes("\u202E"),
      );
      expect(await open.page.evaluate("document.querySelectorAll('main script').length")).toBe(0);
      await expectSound(open);
      await open.page.close();
    }
  });
});
