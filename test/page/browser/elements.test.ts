import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DEMO_URL, demoArchives } from "../../support/demo-archives.ts";
import { servingDemo } from "../../support/demo-service.ts";
import { BROWSERS, launchBrowser, openPage, until } from "../../support/page-browsers.ts";
import { EXAMPLE_MAP, serving } from "../../support/serving.ts";

/** A page of another site, with a policy as strict as one that uses the elements can have. */
async function foreignPage(site: string, element: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url === "/look.css") {
      response.writeHead(200, { "Content-Type": "text/css" });
      response.end("body{margin:1rem} memento-timeline,mementomap-explorer{--accent:#7a0b3b}");
      return;
    }
    response.writeHead(url === "/" ? 200 : 404, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; script-src ${site}; connect-src ${site}; style-src 'self'; worker-src blob: ${site}; img-src data:`,
    });
    response.end(`<!doctype html><html lang="en"><title>Another site</title>
      <link rel="icon" href="data:,"><link rel="stylesheet" href="/look.css">
      <script type="module" src="${site}/page/elements.js"></script>
      <main><h1>Another site</h1>${element}</main>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** An expression about what is in an element. */
function inside(page: Page, element: string, expression: string): Promise<unknown> {
  return page.evaluate(
    `(() => { const root = document.querySelector("${element}").shadowRoot; return ${expression}; })()`,
  );
}

const cases = BROWSERS.flatMap((name) => [390, 1440].map((width) => ({ name, width })));

describe.each(cases)("elements on a page of others, $name, $width pixels", ({ name, width }) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser(name, "light");
  });

  afterAll(() => browser.close());

  it("show mementos over time, from the site that the script is of", async () => {
    const site = await servingDemo(await demoArchives());
    const element = `<memento-timeline url="${DEMO_URL}" datetime="2010-06-01"></memento-timeline>`;
    const address = await foreignPage(site, element);
    const { page, faults } = await openPage(browser, address, { width, scheme: "light" });
    const root = `document.querySelector("memento-timeline").shadowRoot`;
    await until(page, `${root}?.querySelector("progress.is-over") != null`);
    expect(
      await inside(page, "memento-timeline", `root.querySelector(".progress-line").textContent`),
    ).toMatch(/^1,550 mementos/);
    expect(
      await inside(
        page,
        "memento-timeline",
        `root.querySelector(".chosen-memento time").dateTime.slice(0, 4)`,
      ),
    ).toBe("2010");
    // The page decides on colours; the style of the element does not reach it.
    expect(
      await inside(
        page,
        "memento-timeline",
        `getComputedStyle(root.querySelector("a.button")).backgroundColor`,
      ),
    ).toBe("rgb(122, 11, 59)");
    expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).fontWeight")).toBe(
      "700",
    );
    expect(
      await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      ),
    ).toBe(0);
    await page.evaluate(`document.querySelector("memento-timeline").setAttribute("lang", "de")`);
    await until(page, `${root}.querySelector("h2").textContent === "Archive"`);
    await page.evaluate(`document.querySelector("memento-timeline").remove()`);
    expect(faults).toEqual([]);
    await page.close();
  });

  it.each(["slices of a server", "a map that is read in the browser"])(
    "explore %s",
    async (how) => {
      const { url } = await serving(EXAMPLE_MAP);
      const src = how.startsWith("slices") ? `${url}/explore` : `${url}/.well-known/mementomap`;
      const address = await foreignPage(
        url,
        `<mementomap-explorer src="${src}"></mementomap-explorer>`,
      );
      const { page, faults } = await openPage(browser, address, { width, scheme: "light" });
      const root = `document.querySelector("mementomap-explorer").shadowRoot`;
      await until(page, `${root}?.querySelector(".part-name") != null`);
      expect(
        await inside(page, "mementomap-explorer", `root.querySelector(".facts").innerText`),
      ).toContain("Captures");
      await page.evaluate(
        `[...${root}.querySelectorAll("a.part-cell")].find((each) => each.innerText.startsWith("org")).click()`,
      );
      await until(page, `${root}.querySelector(".crumbs").innerText.includes("org")`);
      expect(page.url()).toBe(address);
      expect(
        await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        ),
      ).toBe(0);
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});
