import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_URL, demoArchives } from "../../support/demo-archives.ts";
import { servingDemo } from "../../support/demo-service.ts";
import { BROWSERS, launchBrowser, openPage } from "../../support/page-browsers.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

describe.skipIf(!BROWSERS.includes("chromium"))("the page without script", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser("chromium", "light");
  });

  afterAll(() => browser.close());

  async function plainPage(url: string): Promise<Page> {
    const page = await browser.newPage();
    await page.setJavaScriptEnabled(false);
    await page.setViewport({ width: 390, height: 800 });
    await page.goto(url);
    return page;
  }

  const textOf = (page: Page): Promise<string> => page.$eval("main", (main) => main.innerText);

  async function submit(page: Page, url: string): Promise<void> {
    await page.type("#url", url);
    await Promise.all([page.waitForNavigation(), page.click("form button")]);
  }

  it("finds archives by a form, and leads to the TimeMap", async () => {
    const url = await servingDemo(await demoArchives());
    const page = await plainPage(`${url}/`);
    await submit(page, DEMO_URL);
    const found = await textOf(page);
    for (const word of ["archive holds it", "may hold it", "unknown", "does not hold it"]) {
      expect(found).toContain(word);
    }
    expect(await page.$$eval("main a", (links) => links.map(({ href }) => href))).toContain(
      `${url}/timemap/link/${DEMO_URL}`,
    );
    await page.close();
  });

  it("looks a URI up in the map of a publisher", async () => {
    const { url } = await serving();
    const page = await plainPage(`${url}/`);
    await submit(page, "https://arxiv.org/abs/1");
    const text = await textOf(page);
    expect(text).toContain("1 may hold it");
    expect(text).toContain("Its site arxiv.org has about 2,500 captures of 900 pages");
    await page.close();
  });

  it.each(["light", "dark"] as const)("fits: %s", async (scheme) => {
    const { url } = await serving();
    for (const width of [390, 1280]) {
      const { page, strays } = await openPage(browser, "about:blank", { width, scheme });
      await page.setJavaScriptEnabled(false);
      strays.length = 0;
      const asked = `${url}/?url=https://arxiv.org/${"long".repeat(60)}`;
      await page.goto(asked);
      const overflow =
        "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow)).toBe(0);
      expect(strays.filter((stray) => !stray.startsWith(url))).toEqual([]);
      await page.close();
    }
  });

  it("is read by pages of other sites: map, range, lookup", async () => {
    const { url } = await serving();
    const other = await serving(EXAMPLE_MAP);
    const page = await browser.newPage();
    await page.setBypassCSP(true);
    await page.goto(other.url);
    const answers = await page.evaluate(`(async () => {
      const map = await fetch("${url}/.well-known/mementomap", { headers: { Range: "bytes=0-7" } });
      const lookup = await fetch("${url}/lookup?url=http://arxiv.org/");
      return [map.status, await map.text(), map.headers.get("link"), (await lookup.json()).present];
    })()`);
    expect(answers).toEqual([206, "!context", '</.well-known/mementomap>; rel="mementomap"', true]);
    await page.close();
  });
});
