import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MapChild, PartSums } from "../../src/maps/explore/map-slice.ts";
import { type Column, Table } from "../parts/table.tsx";
import { type Text, useText } from "../text.ts";
import { partLabel, readable, rolledShare, shortened } from "./part-label.ts";
import { PartLink, type PlaceProps } from "./part-link.tsx";

interface SortableColumn extends Column<MapChild> {
  readonly value: (part: MapChild) => number | string;
}

/** The parts of a slice as a sortable table. */
export function PartTable(
  props: PlaceProps & {
    readonly parts: readonly MapChild[];
    /** Whether to show full names: search results come from anywhere in the map. */
    readonly isWhole: boolean;
  },
): JSX.Element {
  const { parts, isWhole, hrefOf, onGo } = props;
  const text = useText("explore");
  const [order, setOrder] = useState({ name: "", isUp: true });
  const number = (
    name: "captures" | "rows" | "rolled" | "voids",
    value: (part: MapChild) => number,
    cell: (part: MapChild) => string = (part) => text.number(value(part)),
  ): SortableColumn => ({ name: text(name), class: "number", value, cell });
  const columns: readonly SortableColumn[] = [
    {
      name: text("part"),
      value: ({ prefix }) => prefix,
      cell: (part) => {
        const name = shortened(isWhole ? readable(part.url) : partLabel(part), 160);
        const label = (
          <bdi dir="ltr" class="part-name cut" title={part.prefix}>
            {name}
          </bdi>
        );
        return (
          <>
            {part.hasChildren ? (
              <PartLink class="part-cell" prefix={part.prefix} hrefOf={hrefOf} onGo={onGo}>
                {label}
              </PartLink>
            ) : (
              label
            )}
            <small class="part-kind cut">{text(`kind-${part.kind}`)}</small>
          </>
        );
      },
    },
    number(
      "captures",
      ({ captures }) => captures,
      (part) => countText(part, text),
    ),
    number("rows", ({ rows }) => rows),
    number("rolled", rolledShare, (part) => text.percent(rolledShare(part))),
    number(
      "voids",
      (part) => part.voids,
      ({ voids }) => (voids === 0 ? "–" : text.number(voids)),
    ),
  ];
  const value = columns.find(({ name }) => name === order.name)?.value;
  const sign = order.isUp ? 1 : -1;
  return (
    <Table
      class={`parts ${isWhole ? "whole" : ""}`}
      label={text("tableLabel")}
      isBoxed
      columns={columns}
      rows={
        value === undefined
          ? parts
          : parts.toSorted(
              (a, b) => sign * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0),
            )
      }
      order={{
        ...order,
        // Names sort ascending first, numbers descending.
        onSort: (name) =>
          setOrder({ name, isUp: name === order.name ? !order.isUp : name === text("part") }),
      }}
    />
  );
}

/** A number of captures with its bound: `at least 40`. */
export function countText(part: PartSums, text: Text<"explore">): string {
  const count = text.number(part.captures);
  return part.bound === "exact" ? count : text(part.bound, { count });
}
