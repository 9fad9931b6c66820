import { createHash } from "node:crypto";
import { type Html, html, Html as HtmlText } from "./html.ts";
import { PAGE_STYLE } from "./style.ts";

/** Nothing may be loaded, run or embedded but the style that the page itself has. */
export function securityPolicy(style: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The policy of pages with {@link PAGE_STYLE} and no other. */
export const PAGE_SECURITY_POLICY: string = securityPolicy(PAGE_STYLE);

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%2317566b'/%3E" +
  "%3Cpath d='M4 4h8M4 8h5M4 12h7' stroke='%23fff' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E";

/** A whole document with the style of the pages, or that and more. `head` goes into its head. */
export function htmlDocument(
  title: string,
  head: Html,
  body: Html,
  style: string = PAGE_STYLE,
): string {
  // Made apart, because the policy names the digest of exactly what is between the tags.
  const styleElement = new HtmlText(`<style>${style}</style>`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${new HtmlText(ICON)}" />
        ${head} ${styleElement}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}
