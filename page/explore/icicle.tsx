import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MapChild, MapSlice } from "../../src/maps/explore/map-slice.ts";
import { useText } from "../text.ts";
import { layOut, type Tile, tileBeside } from "./icicle-layout.ts";
import { partLabel, rolledShare } from "./part-label.ts";

const NARROW = 560;
/** Approximate letter widths, to cut names that would not fit. */
const LETTER = 6.9;

/** The parts of a slice as rectangles: one column per level, with heights in proportion to captures. */
export function Icicle(props: {
  readonly slice: MapSlice;
  /** Opens a part; undefined opens the parent. */
  readonly onGo: (part: MapChild | undefined) => void;
}): JSX.Element {
  const { slice, onGo } = props;
  const text = useText("explore");
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [height, levels] = width < NARROW ? [440, 2] : [520, 3];
  const tiles = useMemo(
    () => (width === 0 ? [] : layOut(slice, { width, height, levels })),
    [slice, width],
  );
  const [focused, setFocused] = useState(0);
  const usesKeys = useRef(false);
  const focus = (to: number): void => {
    setFocused(to);
    box.current?.querySelector<SVGGElement>(`[data-tile="${to}"]`)?.focus();
  };
  useEffect(() => {
    // Restore the focus after keyboard navigation.
    if (usesKeys.current) focus(0);
    else setFocused(0);
  }, [slice.prefix]);
  const go = ({ part, parent }: Tile, byKey: boolean): void => {
    const to = part ?? parent;
    if (to?.hasChildren !== true) return;
    usesKeys.current = byKey;
    onGo(to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const tile = tiles[focused];
    const to = tileBeside(tiles, focused, key);
    if (to !== undefined) focus(to);
    else if (tile !== undefined && (key === "Enter" || key === " ")) go(tile, true);
    else if (key === "Backspace" || key === "Escape") {
      usesKeys.current = true;
      onGo(undefined);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="icicle box" ref={box}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="tree"
        aria-label={text("icicleLabel")}
        onKeyDown={onKeyDown}
      >
        <defs>
          <pattern
            id="voids"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect class="void-paper" width="5" height="5" />
            <rect class="void-line" width="2.2" height="5" />
          </pattern>
        </defs>
        {tiles.map((tile, index) => (
          <g
            key={`${tile.level} ${tile.part?.prefix ?? `rest of ${tile.parent?.prefix ?? ""}`}`}
            data-tile={index}
            role="treeitem"
            aria-level={tile.level}
            tabindex={index === focused ? 0 : -1}
            class={classOf(tile)}
            onClick={() => go(tile, false)}
            onFocus={() => setFocused(index)}
          >
            <TileContent tile={tile} />
          </g>
        ))}
      </svg>
    </div>
  );
}

function classOf({ part, parent }: Tile): string {
  const shade = part === undefined ? "rest" : `rolled${rolledStep(part)}`;
  return `tile ${shade} ${(part ?? parent)?.hasChildren === true ? "opens" : ""}`;
}

/** How much of a part is rolled up: 0 if all pages have rows, 4 if wildcards cover everything. */
function rolledStep(part: MapChild): number {
  const share = rolledShare(part);
  return share <= 0.02 ? 0 : share < 0.35 ? 1 : share < 0.65 ? 2 : share < 0.98 ? 3 : 4;
}

function TileContent({ tile }: { readonly tile: Tile }): JSX.Element {
  const text = useText("explore");
  const { part, x, y, width, height, size } = tile;
  const voids = part?.voids ?? 0;
  const name = part === undefined ? text("others") : partLabel(part);
  const count = part === undefined ? size : part.captures;
  const notes = [
    ...(part === undefined ? [] : [text(part.detail === "rolled up" ? "rolledUp" : part.detail)]),
    ...(voids > 0 ? [text.count("voidRows", voids)] : []),
  ];
  const title = [text("tile", { name, count }), notes.join(", ")].join("\n").trim();
  const hasTwoLines = height >= 36;
  const amount = text.compact(count);
  const room = Math.floor((width - 16) / LETTER) - (hasTwoLines ? 0 : amount.length + 2);
  return (
    <>
      <title>{title}</title>
      <rect class="paper" x={x} y={y} width={width - 1} height={Math.max(1, height - 1)} />
      {voids > 0 && height >= 4 && (
        <rect
          fill="url(#voids)"
          x={x + width - 13}
          y={y}
          width={12}
          height={Math.min(height - 1, 12)}
        />
      )}
      {height >= 13 && (
        <text x={x + 7} y={y + (hasTwoLines ? 17 : height / 2 + 4)}>
          {cut(name, room)}
          <tspan class="count" {...(hasTwoLines ? { x: x + 7, dy: 15 } : { dx: 4 })}>
            {amount}
          </tspan>
        </text>
      )}
    </>
  );
}

function cut(name: string, room: number): string {
  const letters = Array.from(name.slice(0, 300));
  return letters.length <= room ? name : `${letters.slice(0, Math.max(1, room - 1)).join("")}…`;
}

/** The current width of an element. */
function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const update = (): void => setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(update);
    observer.observe(element);
    update();
    return () => observer.disconnect();
  }, []);
  return width;
}
