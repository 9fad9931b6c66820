import { describe, expect, it } from "vitest";
import { MementoMapError, quote, withoutCredentials } from "../src/errors.ts";

describe("texts from outside in messages", () => {
  it("escapes what a terminal would obey or hide", () => {
    expect(quote("a\u001bb\u009b31m\u202ec\u0007")).toBe(
      String.raw`"a\u001bb\u009b31m\u202ec\u0007"`,
    );
  });

  it("leaves out user names and passwords of addresses", () => {
    const address = "http://me:s3cret@host.example/map.ukvs?at=me@home";
    const shown = "http://host.example/map.ukvs?at=me@home";
    expect(withoutCredentials(`${address} and ${address}`)).toBe(`${shown} and ${shown}`);
    const position = { source: address, line: 3 };
    const error = new MementoMapError("MM_HTTP", `no response from ${address}`, { position });
    expect(error.describe()).toBe(`${shown}:3: no response from ${shown} [MM_HTTP]`);
    expect(error.message).not.toContain("s3cret");
  });
});
