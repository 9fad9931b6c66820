import { describe, expect, it } from "vitest";
import { htmlLinks } from "../../../src/publish/fetch/discover.ts";
import { sniff } from "../../../src/ukvs/sniff.ts";

describe("htmlLinks", () => {
  it.each([
    ['<link rel="mementomap" href="/m">', ["/m"]],
    ["<LINK REL=mementomap HREF=/m>", ["/m"]],
    ["<link href='/m?a=1&amp;b=2' rel='x mementomap'/>", ["/m?a=1&b=2"]],
    ['<link rel="stylesheet" href="/s">', []],
    ['<!-- <link rel="mementomap" href="/m"> -->', []],
    ['<script>"<link rel=mementomap href=/m>"</script>', []],
    ["<title><link rel=mementomap href=/m></title>", []],
    ['<link title="a>b" rel=mementomap href=/m>', ["/m"]],
    ['<link rel="mementomap">', []],
    ["<link rel=mementomap href=/a><link rel=mementomap href=/b>", ["/a", "/b"]],
  ])("finds in %s", (html, hrefs) => {
    expect(htmlLinks(html, "mementomap").hrefs).toEqual(hrefs);
  });

  it("tells the base", () => {
    expect(htmlLinks('<base href="https://b/">', "x").base).toBe("https://b/");
  });
});

describe("sniff", () => {
  it.each<[string, string]>([
    ['!context ["https://git.io/mementomap"]\n', "map"],
    ["@meta 0 {name: 'x'}\n", "map"],
    ["com,cnn)/ 12\n", "map"],
    ["* 5/3\ncom,cnn)/ 12\n", "map"],
    ["<!DOCTYPE html><html>", "html"],
    ["\uFEFF  <html>", "html"],
    ['<?xml version="1.0"?>', "html"],
    ["", "empty"],
    ["Not found\n", "other"],
    ['{"error": 404}', "other"],
    ["\u001f\u008b\b", "compressed"],
  ])("of %j is %s", (text, kind) => {
    expect(sniff(kind === "compressed" ? Buffer.from(text, "latin1") : Buffer.from(text))).toBe(
      kind,
    );
  });
});
