import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import { OverlapChart } from "../compare/overlap-chart.tsx";
import { Growth, Sizes } from "../compare/sizes.tsx";
import { shortened, visible } from "../explore/part-label.ts";
import { canCompare, compareMaps, type PageMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { PAGE } from "../page-data.ts";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import type { ViewProps } from "../views.ts";

const MAX_MAPS = 8;

/** Compare: the overlap of maps and their differences. */
export default function Compare({ params }: ViewProps): JSX.Element {
  const text = useText("compare");
  const maps = useMaps().filter(({ isPacked }) => !isPacked);
  const named = params.getAll("map").flatMap((id) => maps.find((map) => map.id === id) ?? []);
  const chosen = (params.has("map") ? named : maps).slice(0, MAX_MAPS);
  const choose = (map: PageMap, isOn: boolean): void => {
    const others = chosen.filter(({ id }) => id !== map.id);
    compare(isOn ? [...others, map] : others);
  };
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="lede">{text("lede")}</p>
      <fieldset class="card flow chooser">
        <legend>{text("choose")}</legend>
        {maps.map((map) => (
          <label key={map.id} class="flow tight">
            <input
              type="checkbox"
              checked={chosen.includes(map)}
              onChange={({ currentTarget }) => choose(map, currentTarget.checked)}
            />
            <bdi>{shortened(visible(map.name), 80)}</bdi>
          </label>
        ))}
        <OpenMaps onOpened={(map) => choose(map, true)} isLarge={maps.length === 0} />
        <p class="hint">{text("chooseHint")}</p>
      </fieldset>
      {chosen.length < 2 || !canCompare(chosen) ? (
        <p class="hint">{text(chosen.length < 2 ? "few" : "mixed")}</p>
      ) : (
        <Compared key={JSON.stringify(chosen.map(({ id }) => id))} maps={chosen} />
      )}
    </>
  );
}

function Compared({ maps }: { readonly maps: readonly PageMap[] }): JSX.Element {
  const text = useText("compare");
  const [comparison, setComparison] = useState<MapComparison>();
  const [fault, setFault] = useState<string>();
  const [progress, setProgress] = useState<number>();
  useEffect(() => {
    const stop = new AbortController();
    compareMaps(maps, stop.signal, setProgress).then(setComparison, (error: unknown) =>
      setFault(error instanceof Error ? error.message : String(error)),
    );
    return () => stop.abort();
  }, []);
  if (fault !== undefined) {
    return (
      <p role="alert" class="card fault">
        {text("fault", { reason: visible(fault) })}
      </p>
    );
  }
  if (comparison === undefined) {
    return (
      <p class="hint" role="status">
        {text("working")} {progress !== undefined && text.share(progress)}
      </p>
    );
  }
  const nameOf = (id: string): string =>
    shortened(visible(maps.find((map) => map.id === id)?.name ?? id), 28);
  return (
    <div class="compared">
      <Growth comparison={comparison} nameOf={nameOf} onSwap={() => compare(maps.toReversed())} />
      <Sizes comparison={comparison} nameOf={nameOf} />
      <OverlapChart comparison={comparison} nameOf={nameOf} />
    </div>
  );
}

function compare(maps: readonly PageMap[]): void {
  const query = new URLSearchParams(maps.map(({ id }) => ["map", id]));
  const href = hrefOf(PAGE, "compare");
  const joint = href.includes("?") ? "&" : "?";
  navigate(maps.length === 0 ? href : `${href}${joint}${query.toString()}`);
}
