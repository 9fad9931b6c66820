import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MapChild, PartSums } from "../../src/maps/explore/map-slice.ts";
import { EXPLORE } from "../messages.ts";
import { formatNumber, formatPercent, type Text, useText } from "../text.ts";
import { partLabel, readable } from "./part-label.ts";

export type ExploreText = Text<keyof (typeof EXPLORE)["en"]>;
type Column = "part" | "captures" | "rows" | "rolled" | "voids";

interface TableProps {
  readonly parts: readonly MapChild[];
  /** Whether names are whole: parts of a search are from anywhere. */
  readonly isWhole: boolean;
  readonly hrefOf: (prefix: string) => string | undefined;
  readonly onGo: (part: MapChild) => void;
}

/** The parts of a slice as a table, which readers may sort. */
export function PartTable({ parts, isWhole, hrefOf, onGo }: TableProps): JSX.Element {
  const text = useText(EXPLORE);
  const [order, setOrder] = useState<{ column: Column; isUp: boolean }>();
  const sorted = order === undefined ? parts : parts.toSorted(by(order.column, order.isUp));
  const shown = useShown(sorted, parts);
  const sort = (column: Column): void =>
    setOrder(
      order?.column === column
        ? { column, isUp: !order.isUp }
        : { column, isUp: column === "part" },
    );
  const head = (column: Column): JSX.Element => {
    const isSorted = order?.column === column;
    return (
      <th
        scope="col"
        class={column === "part" ? "" : "number"}
        aria-sort={isSorted ? (order.isUp ? "ascending" : "descending") : undefined}
      >
        <button type="button" class="sorter" onClick={() => sort(column)}>
          {text(column)}
          <span aria-hidden="true">{isSorted ? (order.isUp ? " ↑" : " ↓") : ""}</span>
        </button>
      </th>
    );
  };
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={text("tableLabel")}>
      <table class={`parts ${isWhole ? "whole" : ""}`}>
        <thead>
          <tr>
            {head("part")}
            {head("captures")}
            {head("rows")}
            {head("rolled")}
            {head("voids")}
          </tr>
        </thead>
        <tbody>
          {shown.map((part) => (
            <tr key={part.prefix}>
              <th scope="row">
                <PartLink part={part} isWhole={isWhole} hrefOf={hrefOf} onGo={onGo} />
              </th>
              <td class="number">{countOf(part, text)}</td>
              <td class="number">{formatNumber(part.rows, text.language)}</td>
              <td class="number">{formatPercent(rolledShare(part), text.language)}</td>
              <td class="number">
                {part.voids === 0 ? "–" : formatNumber(part.voids, text.language)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** As many as are in sight; the others come when these are drawn. */
const IN_SIGHT = 40;

function useShown(sorted: readonly MapChild[], parts: readonly MapChild[]): readonly MapChild[] {
  const [whole, setWhole] = useState<readonly MapChild[]>();
  useEffect(() => {
    const timer = setTimeout(() => setWhole(parts));
    return () => clearTimeout(timer);
  }, [parts]);
  return whole === parts ? sorted : sorted.slice(0, IN_SIGHT);
}

function PartLink(props: {
  readonly part: MapChild;
  readonly isWhole: boolean;
  readonly hrefOf: TableProps["hrefOf"];
  readonly onGo: TableProps["onGo"];
}): JSX.Element {
  const text = useText(EXPLORE);
  const { part, isWhole, hrefOf, onGo } = props;
  const name = isWhole ? readable(part.url) : partLabel(part);
  const kind = text(KINDS[part.kind]);
  const label = (
    <>
      <bdi dir="ltr" class="part-name" title={part.prefix}>
        {name.length > 160 ? `${name.slice(0, 160)}…` : name}
      </bdi>
      <span class="part-kind">{kind}</span>
    </>
  );
  if (!part.hasChildren) return <span class="part-cell">{label}</span>;
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onGo(part);
  };
  return (
    <a class="part-cell" href={hrefOf(part.prefix) ?? "#"} onClick={follow}>
      {label}
    </a>
  );
}

const KINDS = {
  root: "kindRoot",
  tld: "kindTld",
  domain: "kindDomain",
  host: "kindHost",
  path: "kindPath",
  page: "kindPage",
  query: "kindQuery",
  wildcard: "kindWildcard",
  other: "kindOther",
} as const;

function by(column: Column, isUp: boolean): (a: MapChild, b: MapChild) => number {
  const sign = isUp ? 1 : -1;
  if (column === "part") return (a, b) => sign * (a.prefix < b.prefix ? -1 : 1);
  const number = (part: MapChild): number =>
    column === "rolled" ? rolledShare(part) : part[column];
  return (a, b) => sign * (number(a) - number(b));
}

export function rolledShare(part: PartSums): number {
  if (part.captures > 0) return part.wildcardCaptures / part.captures;
  return part.rows === 0 ? 0 : part.wildcards / part.rows;
}

/** A number of captures with its bound: `at least 40`. */
export function countOf(part: Pick<PartSums, "captures" | "bound">, text: ExploreText): string {
  const count = formatNumber(part.captures, text.language);
  return part.bound === "exact" ? count : text(part.bound, { count });
}
