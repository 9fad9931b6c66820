import type { ComponentChildren, JSX } from "preact";

export interface Column<Row> {
  /** The heading; without any, the table has no header row. */
  readonly name: string;
  readonly class?: string | undefined;
  readonly cell: (row: Row) => ComponentChildren;
}

/** The sort order of a sortable table. */
export interface TableOrder {
  /** The sort column. */
  readonly name?: string | undefined;
  readonly isUp: boolean;
  readonly onSort: (name: string) => void;
}

/** A table whose first column names the rows. With a label, it scrolls in its own box. */
export function Table<Row>(props: {
  readonly class?: string;
  readonly label?: string;
  /** Whether the box has a border. */
  readonly isBoxed?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly order?: TableOrder;
}): JSX.Element {
  const { label, columns, rows, order } = props;
  const table = (
    <table class={props.class}>
      {columns.some(({ name }) => name !== "") && (
        <thead>
          <tr>
            {columns.map(({ name, class: style }, place) => (
              <Heading key={place} name={name} style={style} order={order} />
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {columns.map(({ name, class: style, cell }, place) =>
              place === 0 ? (
                <th key={place} scope="row" class={style}>
                  {cell(row)}
                </th>
              ) : (
                <td key={place} class={style} data-label={name}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (label === undefined) return table;
  return (
    <div
      class={`scroller ${props.isBoxed === true ? "box" : ""}`}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      {table}
    </div>
  );
}

function Heading(props: {
  readonly name: string;
  readonly style: string | undefined;
  readonly order: TableOrder | undefined;
}): JSX.Element {
  const { name, style, order } = props;
  const isSorted = order?.name === name;
  const direction = order?.isUp === true ? "ascending" : "descending";
  return (
    <th scope="col" class={style} aria-sort={isSorted ? direction : undefined}>
      {order === undefined ? (
        name
      ) : (
        <button type="button" class="sorter" onClick={() => order.onSort(name)}>
          {name}
          <span aria-hidden="true">{isSorted ? (order.isUp ? " ↑" : " ↓") : ""}</span>
        </button>
      )}
    </th>
  );
}
