import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import { OverlapChart } from "../compare/overlap-chart.tsx";
import { Growth, Sizes } from "../compare/sizes.tsx";
import { visible } from "../explore/part-label.ts";
import { canCompare, compareMaps, type PageMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { COMPARE } from "../messages.ts";
import { PAGE } from "../page-data.ts";
import { hrefOf, navigate } from "../router.ts";
import { formatPercent, useText } from "../text.ts";
import type { ViewProps } from "../views.ts";

const MOST = 8;

/** Compare: what maps have in common, and what only one holds. */
export default function Compare({ params }: ViewProps): JSX.Element {
  const text = useText(COMPARE);
  const maps = useMaps().filter(({ isPacked }) => !isPacked);
  const asked = params.getAll("map");
  const chosen =
    asked.length === 0
      ? maps.slice(0, MOST)
      : asked.flatMap((id) => maps.find((map) => map.id === id) ?? []).slice(0, MOST);
  const toggle = (id: string, isOn: boolean): void => {
    const ids = chosen.map((map) => map.id).filter((other) => other !== id);
    choose(isOn ? [...ids, id] : ids);
  };
  const onOpened = ({ id }: PageMap): void => choose([...chosen.map((map) => map.id), id]);
  const nameOf = (id: string): string => maps.find((map) => map.id === id)?.name ?? id;
  return (
    <>
      <h1>{text("title")}</h1>
      <p class="lede">{text("lede")}</p>
      <fieldset class="chooser">
        <legend>{text("choose")}</legend>
        {maps.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={chosen.some((map) => map.id === id)}
              onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
            />
            <bdi>{visible(name).slice(0, 80)}</bdi>
          </label>
        ))}
        <OpenMaps onOpened={onOpened} isLarge={maps.length === 0} />
        <p class="hint">{text("chooseHint")}</p>
      </fieldset>
      <Compared maps={chosen} nameOf={nameOf} />
    </>
  );
}

function Compared(props: {
  readonly maps: readonly PageMap[];
  readonly nameOf: (id: string) => string;
}): JSX.Element {
  const text = useText(COMPARE);
  const { maps, nameOf } = props;
  const [found, setFound] = useState<MapComparison>();
  const [fault, setFault] = useState<string>();
  const [progress, setProgress] = useState<number>();
  const key = JSON.stringify(maps.map(({ id }) => id));
  useEffect(() => {
    setFound(undefined);
    setFault(undefined);
    setProgress(undefined);
    if (maps.length < 2 || !canCompare(maps)) return undefined;
    const stop = new AbortController();
    compareMaps(maps, { signal: stop.signal, onProgress: setProgress }).then(
      (comparison) => {
        if (!stop.signal.aborted) setFound(comparison);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setFault(error instanceof Error ? error.message : String(error));
      },
    );
    return () => stop.abort();
  }, [key]);
  if (maps.length < 2) return <p class="hint">{text("few")}</p>;
  if (!canCompare(maps)) return <p class="hint">{text("mixed")}</p>;
  if (fault !== undefined) {
    return (
      <p role="alert" class="card fault">
        {text("fault", { reason: visible(fault) })}
      </p>
    );
  }
  if (found === undefined) {
    return (
      <p class="hint" role="status">
        {text("working")}{" "}
        {progress !== undefined && formatPercent(Math.round(progress * 100) / 100, text.language)}
      </p>
    );
  }
  return (
    <div class="compared">
      <Growth
        comparison={found}
        nameOf={nameOf}
        onSwap={() => choose(maps.map(({ id }) => id).toReversed())}
      />
      <Sizes comparison={found} nameOf={nameOf} />
      <OverlapChart comparison={found} nameOf={nameOf} />
    </div>
  );
}

function choose(ids: readonly string[]): void {
  const query = new URLSearchParams(ids.map((id) => ["map", id]));
  const href = hrefOf(PAGE, "compare");
  const joint = href.includes("?") ? "&" : "?";
  navigate(ids.length === 0 ? href : `${href}${joint}${query.toString()}`);
}
