import type { JSX } from "preact";
import { Explorer } from "../explore/explorer.tsx";
import { shortened, visible } from "../explore/part-label.ts";
import { exploreMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { PAGE } from "../page-data.ts";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import type { ViewProps } from "../views.ts";

/** Explore: the holdings of a map as a tree. */
export default function Explore({ params }: ViewProps): JSX.Element {
  const text = useText("explore");
  const maps = useMaps();
  const wanted = params.get("map");
  const map = wanted === null ? maps[0] : maps.find(({ id }) => id === wanted);
  const address = (prefix: string, search?: string): string =>
    hrefOf(PAGE, "explore", {
      map: maps.length > 1 || map?.isOwn ? map?.id : undefined,
      prefix,
      search,
    });
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="lede">{text("lede")}</p>
      <div class="map-bar flow">
        {maps.length > 0 && (
          <label class="flow tight">
            {text("map")}
            <select
              value={map?.id ?? ""}
              onChange={({ currentTarget }) => explore(currentTarget.value)}
            >
              {map === undefined && <option value="">–</option>}
              {maps.map(({ id, name }) => (
                <option key={id} value={id}>
                  {shortened(visible(name), 120)}
                </option>
              ))}
            </select>
          </label>
        )}
        <OpenMaps onOpened={({ id }) => explore(id)} isLarge={maps.length === 0} />
      </div>
      {map === undefined && wanted !== null && (
        <p class="fault" role="alert">
          {text("unknownMap", { name: shortened(visible(wanted), 120) })}
        </p>
      )}
      {map !== undefined && (
        <Explorer
          key={map.id}
          name={map.name}
          load={(options, onProgress) => exploreMap(map, options, onProgress)}
          prefix={params.get("prefix") ?? ""}
          search={params.get("search") ?? ""}
          onGo={(prefix, search) => navigate(address(prefix, search))}
          hrefOf={address}
        />
      )}
    </>
  );
}

function explore(map: string): void {
  navigate(hrefOf(PAGE, "explore", { map }));
}
