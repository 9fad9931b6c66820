import type { JSX } from "preact";
import type { MapInfo } from "../../src/page/page-data.ts";
import { publishedName } from "../maps/map-list.ts";
import { PAGE } from "../page-data.ts";
import { Bar } from "../parts/bar.tsx";
import { Commands } from "../parts/commands.tsx";
import { Facts } from "../parts/facts.tsx";
import { Table } from "../parts/table.tsx";
import { PlainText, webUri } from "../parts/uri.tsx";
import { hrefOf } from "../router.ts";
import { useText } from "../text.ts";

/** The maps of a publisher: their statistics and downloads. */
export function PublishedMaps(): JSX.Element {
  const text = useText("about");
  const base = `${PAGE.origin}${PAGE.base}`;
  const [first] = PAGE.maps;
  return (
    <>
      <h1>
        <PlainText value={PAGE.name} />
      </h1>
      <p class="lede">
        {text("publisherTitle")}. {text("publisherLede")}
      </p>
      {PAGE.maps.map((map) => (
        <PublishedMap key={map.id} map={map} />
      ))}
      <Commands
        title={text("programs")}
        commands={[
          `curl '${base}/lookup?url=https://example.org/'`,
          `curl --data-binary @uris.txt ${base}/lookup`,
          `curl --compressed -o map.ukvs ${new URL(first?.href ?? "", PAGE.origin).href}`,
        ]}
      >
        {text("publisherPrograms")} <a href={`${PAGE.base}/openapi.json`}>{text("openapi")}</a>.
      </Commands>
    </>
  );
}

function PublishedMap({ map }: { readonly map: MapInfo }): JSX.Element {
  const text = useText("about");
  const [mementos = "", originals = ""] = (map.total ?? "").split("/");
  // Frequencies may have a bound: `900+`.
  const amount = (value: string): string =>
    /^\d+$/.test(value) ? text.number(Number(value)) : value;
  const updated = Date.parse(map.updatedAt);
  const facts = [
    ["keys", text.number(map.records)],
    ["mementos", amount(mementos)],
    ["originals", amount(originals)],
    ["tlds", map.isPacked ? "" : text.number(map.domainCount)],
    ["size", text.bytes(map.bytes)],
    ["updated", Number.isNaN(updated) ? map.updatedAt : text.day(updated)],
  ] as const;
  return (
    <section class="card published">
      <div class="card-head">
        <h2>
          <PlainText value={publishedName(map)} />
          {map.isPacked && <span class="badge calm">{text("packed")}</span>}
        </h2>
        <p class="flow">
          <a href={hrefOf(PAGE, "explore", { map: map.id })}>{text("explore")}</a>
          <a href={map.href} download={`mementomap.${map.isPacked ? "packed" : "ukvs"}`}>
            {text("download")}
          </a>
        </p>
      </div>
      {map.archive !== null && (
        <p class="hint">
          {text("of")}{" "}
          <a href={webUri(map.archive)} rel="noreferrer">
            <PlainText value={map.archive} />
          </a>
        </p>
      )}
      <Facts
        facts={facts.flatMap(([name, value]) =>
          value === "" ? [] : [[text(name), value] as const],
        )}
      />
      {map.topDomains.length > 1 && <TopDomains map={map} />}
    </section>
  );
}

function TopDomains({ map }: { readonly map: MapInfo }): JSX.Element {
  const text = useText("about");
  const { topDomains, domainCount } = map;
  const max = topDomains[0]?.keys ?? 1;
  return (
    <details>
      <summary>{text("where")}</summary>
      <Table
        rows={topDomains}
        columns={[
          { name: "", cell: ({ domain }) => <PlainText value={domain} /> },
          { name: "", class: "share", cell: ({ keys }) => <Bar share={keys / max} /> },
          { name: "", class: "number", cell: ({ keys }) => text.number(keys) },
        ]}
      />
      {topDomains.length < domainCount && (
        <p class="hint">{text("whereLargest", { shown: topDomains.length, all: domainCount })}</p>
      )}
    </details>
  );
}
