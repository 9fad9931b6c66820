import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MapChild, MapSlice } from "../../src/maps/explore/map-slice.ts";
import { EXPLORE } from "../messages.ts";
import { formatCompact, formatNumber, useText } from "../text.ts";
import { layOut, rolledUp, type Tile } from "./icicle-layout.ts";
import { partLabel } from "./part-label.ts";

interface IcicleProps {
  readonly slice: MapSlice;
  /** Goes to a part; undefined is the one above. */
  readonly onGo: (part: MapChild | undefined) => void;
}

const NARROW = 560;
/** Widths of letters, about, to cut names that would not fit. */
const LETTER = 6.9;

/** The parts of a slice as rectangles: a column for each level, as high as what they hold. */
export function Icicle({ slice, onGo }: IcicleProps): JSX.Element {
  const text = useText(EXPLORE);
  const box = useRef<HTMLDivElement>(null);
  const layer = useRef<SVGGElement>(null);
  const width = useWidth(box);
  const height = width < NARROW ? 440 : 520;
  const levels = width < NARROW ? 2 : 3;
  const tiles = useMemo(
    () => (width === 0 ? [] : layOut(slice, { width, height, levels })),
    [slice, width, height, levels],
  );
  const origin = useRef<Tile | undefined>(undefined);
  const [focused, setFocused] = useState(0);
  useEffect(() => setFocused(0), [slice.prefix]);
  useLayoutEffect(() => {
    zoomFrom(layer.current, origin.current, { width, height, levels });
    origin.current = undefined;
  }, [slice.prefix]);

  const go = (tile: Tile): void => {
    const part = tile.part ?? tile.parent;
    if (part === undefined || !part.hasChildren) return;
    origin.current = tile;
    onGo(part);
  };
  const move = (to: number | undefined): void => {
    if (to === undefined) return;
    setFocused(to);
    layer.current?.querySelector<SVGGElement>(`[data-tile="${to}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const tile = tiles[focused];
    if (tile === undefined) return;
    if (event.key === "Enter" || event.key === " ") go(tile);
    else if (event.key === "Backspace" || event.key === "Escape") onGo(undefined);
    else if (event.key === "ArrowDown") move(beside(tiles, focused, 1));
    else if (event.key === "ArrowUp") move(beside(tiles, focused, -1));
    else if (event.key === "ArrowRight") move(inside(tiles, focused));
    else if (event.key === "ArrowLeft") move(around(tiles, focused));
    else if (event.key === "Home") move(0);
    else return;
    event.preventDefault();
  };
  return (
    <div class="icicle" ref={box}>
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
        <g ref={layer} role="presentation">
          {tiles.map((tile, index) => (
            <TileShape
              key={`${tile.level} ${tile.part?.prefix ?? `rest of ${tile.parent?.prefix ?? ""}`}`}
              tile={tile}
              index={index}
              isFocusable={index === focused}
              total={tiles.length}
              onGo={() => go(tile)}
              onFocus={() => setFocused(index)}
            />
          ))}
        </g>
      </svg>
    </div>
  );
}

function TileShape(props: {
  readonly tile: Tile;
  readonly index: number;
  readonly isFocusable: boolean;
  readonly total: number;
  readonly onGo: () => void;
  readonly onFocus: () => void;
}): JSX.Element {
  const text = useText(EXPLORE);
  const { tile, index, isFocusable, onGo, onFocus } = props;
  const { part, x, y, width, height, level } = tile;
  const name = part === undefined ? text("others") : partLabel(part);
  const count = part === undefined ? tile.size : part.captures;
  const said = text("tile", { name, count: formatNumber(count, text.language) });
  const notes = part === undefined ? "" : partNotes(part, text);
  const room = Math.floor((width - 16) / LETTER);
  const hasText = height >= 13;
  const hasTwoLines = height >= 30;
  const compact = hasText ? formatCompact(count, text.language) : "";
  const onLine = hasText && !hasTwoLines ? ` ${compact}` : "";
  const canOpen = (part ?? tile.parent)?.hasChildren === true;
  return (
    <g
      data-tile={index}
      role="treeitem"
      aria-level={level}
      tabindex={isFocusable ? 0 : -1}
      class={`tile ${part === undefined ? "rest" : `rolled${rolledUp(part)}`} ${canOpen ? "opens" : ""}`}
      onClick={onGo}
      onFocus={onFocus}
    >
      <title>{notes === "" ? said : `${said}\n${notes}`}</title>
      <rect class="paper" x={x} y={y} width={width - 1} height={Math.max(1, height - 1)} />
      {part !== undefined && part.voids > 0 && height >= 4 && (
        <rect
          class="voids"
          fill="url(#voids)"
          x={x + width - 13}
          y={y}
          width={12}
          height={Math.min(height - 1, 12)}
        />
      )}
      {hasText && (
        <text x={x + 7} y={y + (hasTwoLines ? 17 : height / 2 + 4)}>
          {cut(name, room - (onLine === "" ? 0 : onLine.length + 1))}
          {onLine !== "" && <tspan class="count">{onLine}</tspan>}
        </text>
      )}
      {hasTwoLines && (
        <text class="count" x={x + 7} y={y + 32} visibility={height >= 36 ? "visible" : "hidden"}>
          {compact}
        </text>
      )}
    </g>
  );
}

function partNotes(
  part: MapChild,
  text: ReturnType<typeof useText<keyof (typeof EXPLORE)["en"]>>,
): string {
  const notes = [text(part.detail === "rolled up" ? "rolledUp" : part.detail)];
  if (part.voids > 0) notes.push(text.count("voidRows", part.voids));
  return notes.join(", ");
}

function cut(name: string, room: number): string {
  const letters = Array.from(name.slice(0, 300));
  return letters.length <= room ? name : `${letters.slice(0, Math.max(1, room - 1)).join("")}…`;
}

/** The tile before or behind another in its column. */
function beside(tiles: readonly Tile[], at: number, step: 1 | -1): number | undefined {
  const { level, y } = tiles[at] ?? { level: 0, y: 0 };
  const column = tiles
    .map((tile, index) => ({ tile, index }))
    .filter(({ tile }) => tile.level === level && (step === 1 ? tile.y > y : tile.y < y))
    .toSorted((a, b) => step * (a.tile.y - b.tile.y));
  return column[0]?.index;
}

function inside(tiles: readonly Tile[], at: number): number | undefined {
  const tile = tiles[at];
  const found = tiles.findIndex(
    (one) =>
      tile !== undefined &&
      one.level === tile.level + 1 &&
      one.y >= tile.y - 0.01 &&
      one.y < tile.y + tile.height,
  );
  return found === -1 ? undefined : found;
}

function around(tiles: readonly Tile[], at: number): number | undefined {
  const tile = tiles[at];
  const found = tiles.findIndex(
    (one) =>
      tile !== undefined &&
      one.level === tile.level - 1 &&
      one.y <= tile.y + 0.01 &&
      one.y + one.height > tile.y,
  );
  return found === -1 ? undefined : found;
}

/** Lets the new rectangles grow from the one that was opened. */
function zoomFrom(
  layer: SVGGElement | null,
  tile: Tile | undefined,
  { width, height, levels }: { width: number; height: number; levels: number },
): void {
  if (layer === null || tile === undefined) return;
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const x = Math.min(width, tile.level * (width / levels));
  layer.animate(
    [
      {
        transform: `translate(${x}px, ${tile.y}px) scale(1, ${tile.height / height})`,
        opacity: 0.3,
      },
      { transform: "none", opacity: 1 },
    ],
    { duration: 200, easing: "cubic-bezier(.2,.7,.3,1)" },
  );
}

/** The width of an element, as it changes. */
function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return width;
}
