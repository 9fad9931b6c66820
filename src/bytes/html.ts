import { MementoMapError } from "../errors.ts";

const ELEMENTS = "html|head|body|title|meta|link|script|style|h1|h2|p|div|center|table";
const HTML = new RegExp(`^\\uFEFF?\\s*<(?:!doctype\\s|!--|\\?xml\\s|(?:${ELEMENTS})[\\s>])`, "i");

/** Whether text begins like a page in HTML or XML: what servers send to people. */
export function looksLikeHtml(text: string): boolean {
  return HTML.test(text);
}

/** The error about a page in HTML that was given in the place of something else. */
export function htmlInstead(wanted: string, source: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `this is a page in HTML, not ${wanted}: perhaps a server sent an error or a login page`,
    { position: { source } },
  );
}
