import { describe, expect, it } from "vitest";
import type { MapView } from "../../../src/server/page/home-page.ts";
import { homePage } from "../../../src/server/page/home-page.ts";
import { UkvsHeaders } from "../../../src/ukvs/header.ts";

function mapOf(archive: string, isThirdParty: boolean): MapView {
  return {
    name: undefined,
    archive,
    isThirdParty,
    href: "/maps/a",
    updatedAt: "2026-11-15T00:00:00Z",
    bytes: 100,
    survey: {
      records: 2,
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
