import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { TIME } from "../messages.ts";
import { PlainText } from "../parts/uri.tsx";
import { formatMoment, useText } from "../text.ts";
import type { Memento, MementoStore } from "./memento-store.ts";

const ROW = 38;
const HEIGHT = 420;
const BESIDE = 8;

/** The list of mementos. Only the rows in sight are in the document, however many there are. */
export function MementoRows(props: {
  readonly store: MementoStore;
  readonly order: Uint32Array;
  readonly nameOf: (archive: string) => string;
  /** The place in the order that is chosen; it is scrolled to when it changes. */
  readonly place: number;
  readonly onChoose: (place: number) => void;
  readonly onPick: (memento: Memento) => void;
  readonly picked: readonly Memento[];
}): JSX.Element {
  const { store, order, place, nameOf, onChoose, onPick, picked } = props;
  const text = useText(TIME);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || place < 0) return;
    const at = place * ROW;
    if (at >= top && at + ROW <= top + HEIGHT) return;
    element.scrollTop = at - HEIGHT / 2;
    setTop(element.scrollTop);
  }, [place, order]);
  useEffect(() => setTop(box.current?.scrollTop ?? 0), [order]);
  const first = Math.max(0, Math.floor(top / ROW) - BESIDE);
  const last = Math.min(order.length, Math.ceil((top + HEIGHT) / ROW) + BESIDE);
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    const to =
      event.key === "Home" ? 0 : event.key === "End" ? order.length - 1 : place + (step ?? 0);
    if (to === place || order.length === 0) return;
    event.preventDefault();
    onChoose(Math.min(order.length - 1, Math.max(0, to)));
  };
  return (
    <div
      ref={box}
      class="rows"
      role="listbox"
      aria-label={text("list")}
      aria-activedescendant={place < 0 ? undefined : `memento-${place}`}
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown={move}
    >
      <div class="rows-all" style={{ height: `${order.length * ROW}px` }}>
        {rows.map((each) => {
          const memento = store.at(order[each] ?? 0);
          const isPicked = picked.some(({ index }) => index === memento.index);
          return (
            <div
              key={each}
              id={`memento-${each}`}
              class={`row ${isPicked ? "row-picked" : ""}`}
              role="option"
              aria-selected={each === place}
              aria-setsize={order.length}
              aria-posinset={each + 1}
              style={{ top: `${each * ROW}px` }}
              onClick={() => onChoose(each)}
              onDblClick={() => onPick(memento)}
            >
              <time dateTime={new Date(memento.time).toISOString()}>
                {formatMoment(new Date(memento.time), text.language)}
              </time>
              <span class="row-archive">
                <PlainText value={nameOf(memento.archive)} />
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
