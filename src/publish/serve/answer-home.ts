import type { Answer } from "../../map/lookup/lookup.ts";
import { lookupKeys } from "../../surt/key.ts";
import { surt as surtOf } from "../../surt/surt.ts";
import { type Exchange, sendText } from "./exchange.ts";
import type { HostedMap } from "./hosted-map.ts";
import { PAGE_SECURITY_POLICY } from "./page/document.ts";
import { homePage, type MapView, type Question } from "./page/home-page.ts";

/** `GET /`: a page for people. It looks a URI up with a plain form and needs no JavaScript. */
export async function home(exchange: Exchange): Promise<void> {
  exchange.route = "home";
  const { site, client, query } = exchange;
  const url = new URLSearchParams(query).get("url")?.trim().slice(0, 8192) ?? "";
  const links = site.links(client);
  const own = site.ownMap(client.host);
  const maps = links.map(({ map, href, anchor }) => ({
    ...viewOf(map, href, anchor),
    replay: (map === own ? site.replay : undefined) ?? replayOf(map),
  }));
  let question: Question | undefined;
  if (url !== "") {
    exchange.metrics.lookups.inc();
    const surt = surtOf(url);
    question = {
      url,
      surt,
      keys: lookupKeys(surt).map(({ key }) => key),
      answers: await Promise.all(links.map(({ map }) => ask(map, url))),
    };
  }
  const origin = site.origin(client);
  const text = homePage({
    maps,
    question,
    action: `${client.prefix}/`,
    lookupUrl: `${origin}${client.prefix}/lookup`,
    mapUrl: new URL(links[0].href, origin).href,
    openApiPath: `${client.prefix}/openapi.json`,
  });
  sendText(exchange, "text/html; charset=utf-8", text, {
    "Cache-Control": "public, max-age=60",
    "Content-Security-Policy": PAGE_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
  });
}

function ask(map: HostedMap, url: string): Promise<Answer> {
  return map.with(async (version) => version.answer(url, {}));
}

/** As the map says itself, if it is a web address. */
function replayOf({ current }: HostedMap): string | undefined {
  const { replay } = current.survey.plan.headers.meta;
  return typeof replay === "string" && /^https?:\/\//i.test(replay) ? replay : undefined;
}

function viewOf(map: HostedMap, href: string, archive: string | undefined): MapView {
  const { survey, whole } = map.current;
  const { headers, pages } = survey.plan;
  const { name, updated_at: updatedAt } = headers.meta;
  return {
    name: typeof name === "string" ? name : undefined,
    archive: archive ?? headers.id,
    isThirdParty: archive !== undefined,
    href,
    updatedAt: typeof updatedAt === "string" ? updatedAt : whole.lastModified.toISOString(),
    bytes: whole.body.size,
    survey,
    pages: pages.map(({ number, first, last, records }) => ({
      href: `${href}?page=${number}`,
      first,
      last,
      records,
    })),
  };
}
