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

/** What to try where a server answers with a page for people. */
export function whereTheApiIs(address: string): string {
  const { origin, pathname } = serverAddress(address);
  const [collection = ""] = pathname.split("/").filter((part) => part !== "" && part !== "cdx");
  const guess = collection === "" ? "" : `, here perhaps ${origin}/${collection}/cdx`;
  return `the CDX API of pywb is at /COLLECTION/cdx${guess}`;
}

/** The error about a server that answers with a page for people. */
export function htmlAnswer(source: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `the server answers with a page in HTML, not with an index; ${whereTheApiIs(source)}`,
    { position: { source } },
  );
}
