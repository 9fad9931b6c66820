import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_URL, demoArchives } from "../../support/demo-archives.ts";
import { servingDemo } from "../../support/demo-service.ts";
import { BROWSERS, launchBrowser } from "../../support/page-browsers.ts";
import { serving } from "../../support/serving.ts";

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

  it("finds archives by a form, and lists mementos", async () => {
    const url = await servingDemo(await demoArchives());
    const page = await plainPage(`${url}/`);
    await submit(page, DEMO_URL);
    const found = await textOf(page);
    for (const word of ["Held", "Possibly held", "Not held", "Not known"]) {
      expect(found).toContain(word);
    }
    expect(found).toContain("decided by org,example,news)/2016/* 264/31");
    await Promise.all([page.waitForNavigation(), page.click(`a[href^="/timemap/link/"]`)]);
    expect(await textOf(page)).toContain("1,550 mementos");
    expect((await page.$$("ol.files li")).length).toBe(1000);
    await page.close();
  });

  it("shows mementos from the form of Time, in pages, with downloads", async () => {
    const url = await servingDemo(await demoArchives());
    const page = await plainPage(`${url}/time`);
    await submit(page, DEMO_URL);
    // The form leads to the list by itself.
    await page.waitForSelector("ol.files li");
    const text = await textOf(page);
    expect(text).toContain("Page 1 of 2");
    expect(text).toContain("status 503");
    expect(
      await page.$$eval("a[download]", (links) => links.map((link) => link.innerText)),
    ).toEqual(["link", "json", "cdxj"]);
    await page.close();
  });

  it("looks a URI up in the map of a publisher", async () => {
    const { url } = await serving();
    const page = await plainPage(`${url}/`);
    await submit(page, "https://arxiv.org/abs/1");
    const text = await textOf(page);
    expect(text).toContain("Present");
    expect(text).toContain("org,arxiv)/*");
    await page.close();
  });
});
