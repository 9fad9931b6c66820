import { describe, expect, it } from "vitest";
import { homePage, type MapView } from "../../../src/publish/serve/home-page.ts";
import { serving } from "../../support/serving.ts";
import { UkvsHeaders } from "../../../src/ukvs/header.ts";

function mapOf(archive: string, isThirdParty: boolean): MapView {
  return {
    name: undefined,
    archive,
    isThirdParty,
    isPacked: false,
    href: "/maps/a",
    updatedAt: "2026-11-15T00:00:00Z",
    bytes: 100,
    survey: {
      records: 2,
      mementos: 0,
      total: undefined,
      plan: { headers: new UkvsHeaders([]), pages: [] },
      domainCount: 1,
      topDomains: [{ domain: "org", keys: 2 }],
    },
    pages: [],
  };
}

const OWN = mapOf("https://archive.example/", false);

describe("the page of a publisher", () => {
  it("tells other archives from a second map of its own", () => {
    const same = homePage({ maps: [OWN, mapOf("https://archive.example/", true)] });
    expect(same).toContain("Another map of this archive.");
    expect(same).not.toContain("for another archive");
    const other = homePage({ maps: [OWN, mapOf("https://other.example/", true)] });
    expect(other).toMatch(
      /Published here for another archive, <a href="https:\/\/other\.example\/"/,
    );
  });

  it("sets each command apart, so that a long one can go on below", () => {
    const page = homePage({ maps: [OWN], action: "/", lookupUrl: "https://a.example/lookup" });
    const [block = ""] = /<pre class="commands">.*?<\/pre>/s.exec(page) ?? [];
    expect(block.match(/<code>curl /g)).toHaveLength(3);
    expect(block).toContain(
      "<code>curl &#39;https://a.example/lookup?url=https://example.org/&#39;</code>",
    );
  });
});

describe("the answer on the page", () => {
  const answered = async (url: string, more: object = {}): Promise<string> => {
    const served = await serving(undefined, more);
    const page = await (await fetch(`${served.url}/?url=${encodeURIComponent(url)}`)).text();
    const [section = ""] = /<div class="answer">.*?<\/div>/s.exec(page) ?? [];
    return section.replaceAll(/<\/?(?:code|p|span)[^>]*>/g, "").replaceAll(/\s+/g, " ");
  };

  it.each([
    ["http://arxiv.org/", "It has 100 captures (100)."],
    ["http://arxiv.org/abs/1", "Its site arxiv.org has about 2,500 captures of 900 pages"],
    ["http://bbc.co.uk/images/a.png", "Its folder bbc.co.uk/images/ has at least 300 captures"],
    ["http://example.com/a", "All of .com has at least 10,000 captures"],
  ])("counts for %s what its key stands for", async (url, words) => {
    const section = await answered(url);
    expect(section).toContain(words);
    expect(section.includes("How many of them are of this page is not said")).toBe(
      url !== "http://arxiv.org/",
    );
  });

  it("leads to the archive where that is known, and only if the map has the page", async () => {
    const options = { replay: "https://archive.example.org/web/" };
    expect(await answered('http://arxiv.org/"><b>', options)).toContain(
      'href="https://archive.example.org/web/http://arxiv.org/&quot;&gt;&lt;b&gt;"',
    );
    expect(await answered("http://arxiv.org/pdf/1", options)).not.toContain("href");
    expect(await answered("http://arxiv.org/")).not.toContain("href");
  });
});
