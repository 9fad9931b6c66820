import { type Exchange, sendText } from "./exchange.ts";
import type { HostedMap } from "./hosted-map.ts";
import { pageLinks } from "./map-version.ts";
import { badRequest, notFound, sendProblem } from "../../http/problem.ts";
import { sendRepresentation } from "../../http/send.ts";
import { linkValue, WELL_KNOWN_PATH } from "./site.ts";
import { pageNumber } from "../../http/target.ts";

/** The map of this host's archive. */
export async function wellKnown(exchange: Exchange): Promise<void> {
  const map = exchange.site.ownMap(exchange.client.host);
  if (map === undefined) {
    const detail = "this site publishes maps of other archives only; see the links";
    sendProblem(exchange.response, notFound(detail), exchange.isHead);
    return;
  }
  await sendMap(exchange, map);
}

/** A map by its name. */
export async function mapById(exchange: Exchange, id: string): Promise<void> {
  const map = exchange.site.map(id);
  if (map === undefined) {
    sendProblem(exchange.response, notFound("there is no map of this name"), exchange.isHead);
    return;
  }
  await sendMap(exchange, map);
}

/** All maps as a set of links (RFC 9264), however many there are. */
export function mapList(exchange: Exchange): void {
  exchange.route = "maps";
  const links = exchange.site.links(exchange.client);
  const lines = links.flatMap((link) => linkValue(link) ?? []);
  sendText(exchange, "application/linkset", `${lines.join(",\n")}\n`, {
    "Cache-Control": exchange.cacheControl,
  });
}

async function sendMap(exchange: Exchange, map: HostedMap): Promise<void> {
  const number = pageNumber(exchange.query);
  await map.with(async (version) => {
    const { request, response, isHead } = exchange;
    const accepted = singleHeader(request.headers["accept-encoding"]);
    const headers = { "Cache-Control": exchange.cacheControl };
    if (number === undefined) {
      exchange.route = "map";
      const found = version.chosen(accepted);
      const digest =
        found.encoding === undefined
          ? { "Repr-Digest": `sha-256=:${Buffer.from(version.digest, "hex").toString("base64")}:` }
          : {};
      await sendRepresentation(request, response, found, { ...headers, ...digest });
      return;
    }
    exchange.route = "page";
    const of = version.survey.plan.pages.length;
    if (Number.isNaN(number)) {
      sendProblem(response, badRequest(`pages are numbered from 1 to ${of}`), isHead);
      return;
    }
    const page = await version.page(number, accepted);
    if (page === undefined) {
      sendProblem(response, notFound(`pages are numbered from 1 to ${of}`), isHead);
      return;
    }
    const links = Object.entries(pageLinks(number, of)).map(
      ([rel, href]) => `<${publicPath(exchange)}${href}>; rel="${rel}"`,
    );
    const about = response.getHeader("Link");
    await sendRepresentation(request, response, page, {
      ...headers,
      Link: [about, ...links].filter(Boolean).join(", "),
    });
  });
}

/** The path as the client asked for it, before a proxy took its prefix off. */
function publicPath({ path, client, site }: Exchange): string {
  if (path === WELL_KNOWN_PATH) return path;
  const inner = path.startsWith(`${site.prefix}/`) ? path.slice(site.prefix.length) : path;
  return `${client.prefix}${inner}`;
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}
