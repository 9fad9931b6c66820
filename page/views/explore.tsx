import type { JSX } from "preact";
import { Explorer } from "../explore/explorer.tsx";
import { visible } from "../explore/part-label.ts";
import { exploreMap, type PageMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { EXPLORE } from "../messages.ts";
import { PAGE } from "../page-data.ts";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import type { ViewProps } from "../views.ts";

/** Explore: the holdings of a map as a tree. */
export default function Explore({ params }: ViewProps): JSX.Element {
  const text = useText(EXPLORE);
  const maps = useMaps();
  const wanted = params.get("map");
  const known = maps.find(({ id }) => id === wanted);
  const map = known ?? (wanted === null ? maps[0] : undefined);
  const prefix = params.get("prefix") ?? "";
  const search = params.get("search") ?? "";
  const address = (next: string, words?: string): string =>
    hrefOf(PAGE, "explore", {
      map: maps.length > 1 || map?.isOwn ? map?.id : undefined,
      prefix: next,
      search: words,
    });
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="lede">{text("lede")}</p>
      <div class="map-bar">
        {maps.length > 0 && (
          <label>
            {text("map")}
            <select
              value={map?.id ?? ""}
              onChange={({ currentTarget }) =>
                navigate(hrefOf(PAGE, "explore", { map: currentTarget.value }))
              }
            >
              {map === undefined && <option value="">–</option>}
              {maps.map(({ id, name }) => (
                <option key={id} value={id}>
                  {visible(name).slice(0, 120)}
                </option>
              ))}
            </select>
          </label>
        )}
        <OpenMaps onOpened={exploreOpened} isLarge={maps.length === 0} />
      </div>
      {map === undefined && wanted !== null && (
        <p class="fault" role="alert">
          {text("unknownMap", { name: visible(wanted).slice(0, 120) })}
        </p>
      )}
      {map !== undefined && (
        <Explorer
          source={map.id}
          name={map.name}
          load={(options, onProgress) => exploreMap(map, options, onProgress)}
          prefix={prefix}
          search={search}
          onGo={(next, words) => navigate(address(next, words))}
          hrefOf={address}
        />
      )}
    </>
  );
}

function exploreOpened({ id }: PageMap): void {
  navigate(hrefOf(PAGE, "explore", { map: id }));
}
