import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import type { PageData, PageHead } from "../src/page/page-data.ts";
import { App } from "./app.tsx";
import type { Address } from "./router.ts";
import { titleOf } from "./text.ts";
import type { View } from "./views.ts";

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%2317566b'/%3E" +
  "%3Cpath d='M4 4h8M4 8h5M4 12h7' stroke='%23fff' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E";

/** The complete document: a view, the data for the application, and its script. */
export function renderDocument(
  page: PageData,
  { view, address }: { readonly view: View; readonly address: Address },
  head: PageHead,
): string {
  const { policy, links, script } = head;
  const content: JSX.Element = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {policy !== undefined && <meta http-equiv="Content-Security-Policy" content={policy} />}
        <title>{titleOf(address.view, page.name)}</title>
        <link rel="icon" href={ICON} />
        {links.map(({ rel, href, type, title }) => (
          <link key={href} rel={rel} href={href} type={type} title={title} />
        ))}
        <script type="module" src={script} />
      </head>
      <body>
        <div id="app" data-view={address.view}>
          <App first={view} address={address} />
        </div>
        <script
          type="application/json"
          id="page-data"
          dangerouslySetInnerHTML={{ __html: dataText(page) }}
        />
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(content)}\n`;
}

/** Data, not a script. `<` is escaped because it could end the block. */
function dataText(data: PageData): string {
  return JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
}
