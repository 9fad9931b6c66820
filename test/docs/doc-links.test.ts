import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "bench/README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

function proseOf(page: string): string {
  return readFileSync(join(ROOT, page), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** What GitHub makes of a heading for links to it. */
function anchorsOf(page: string): Set<string> {
  const headings = Array.from(proseOf(page).matchAll(/^#+ (.*)$/gm), ([, text = ""]) => text);
  return new Set(
    headings.map((text) =>
      text
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function brokenLinksOf(page: string): string[] {
  const links = Array.from(proseOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor);
  });
}

describe("the documentation", () => {
  it.each(PAGES)("has no dead link: %s", (page) => {
    expect(brokenLinksOf(page)).toEqual([]);
  });

  it("lists every page in docs/README.md", () => {
    const contents = proseOf("docs/README.md");
    const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
    const missing = pages.filter((name) => name !== "README.md" && !contents.includes(`(${name})`));
    expect(missing).toEqual([]);
  });
});
