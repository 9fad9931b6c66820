import { MementoMapError, quote } from "../errors.ts";

/**
 * The address of a server that a harvest asks.
 *
 * @throws MM_USAGE for text that is none.
 */
export function serverAddress(api: string): URL {
  if (URL.canParse(api)) {
    const url = new URL(api);
    if (url.protocol === "http:" || url.protocol === "https:") return url;
  }
  throw new MementoMapError(
    "MM_USAGE",
    `not the address of a server: ${quote(api)}; write https://example.org/cdx`,
  );
}

/** An address to show and to keep: without the name and the password that may be in it. */
export function withoutUser(address: string): string {
  const url = serverAddress(address);
  if (url.username === "" && url.password === "") return address;
  url.username = "";
  url.password = "";
  return url.href;
}
