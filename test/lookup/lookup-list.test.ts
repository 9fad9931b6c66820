import { describe, expect, it } from "vitest";
import { lookupKey } from "../../src/lookup/lookup-list.ts";

describe("lookupKey", () => {
  it.each([
    ["http://en.wikipedia.org/wiki/A_(b)", "org,wikipedia,en)/wiki/a_(b)"],
    ["org,wikipedia,en)/wiki/a_(b)?x=1", "org,wikipedia,en)/wiki/a_(b)"],
    ["www.example.org/a/", "org,example)/a"],
    ["org,example)", "org,example)/"],
  ])("%s is %s", (text, key) => {
    expect(lookupKey(text)).toBe(key);
  });
});
