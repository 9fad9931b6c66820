import { describe, expect, it } from "vitest";
import { looksLikePageRequisite, pageOfReferer } from "../../../src/aggregate/route/referer.ts";

describe("pageOfReferer", () => {
  it.each([
    ["http://localhost:1208/memento/20150101000000/http://x.example/", "http://x.example/"],
    [
      "https://a.example/web/2015id_/https://x.example/p?q=/http://y/",
      "https://x.example/p?q=/http://y/",
    ],
    ["http://agg/memento/2015/http://a.example/web/2015/http://x.example/", "http://x.example/"],
    ["https://a.example/web/20150101000000im_/x.example/a?b#c", "http://x.example/a?b#c"],
    ["https://a.example/20150101000000/x.example/", "http://x.example/"],
    ["https://x.example/a/b", "https://x.example/a/b"],
    ["https://x.example/2015/article.html", "https://x.example/2015/article.html"],
    ["https://x.example/?u=http://y.example/", "https://x.example/?u=http://y.example/"],
    ["HTTP://X.example/", "HTTP://X.example/"],
  ])("takes the original out of %s", (referer, page) => {
    expect(pageOfReferer(referer)).toBe(page);
  });

  it.each(["", "about:client", "file:///etc/passwd", "x.example/http://y.example/"])(
    "has nothing for %j",
    (referer) => {
      expect(pageOfReferer(referer)).toBeUndefined();
    },
  );
});

describe("looksLikePageRequisite", () => {
  it.each([
    ["http://x.example/a/logo.PNG", true],
    ["http://x.example/style.css?v=3", true],
    ["http://x.example/app.js#top", true],
    ["http://x.example/font.woff2", true],
    ["http://x.example/", false],
    ["http://x.example/a.css/page", false],
    ["http://x.example/page.html", false],
    ["http://x.example/?logo.png", false],
    ["http://x.js", false],
    ["x.example/logo.gif", true],
    ["http://x.example/.js", true],
  ])("%s: %s", (uri, expected) => {
    expect(looksLikePageRequisite(uri)).toBe(expected);
  });
});
