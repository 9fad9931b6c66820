import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { PlainText } from "../parts/uri.tsx";
import { useText } from "../text.ts";
import type { Memento } from "./memento.ts";

const ROW = 38;
const HEIGHT = 420;
const BESIDE = 8;

/** The list of mementos, virtualized: only visible rows are in the document. */
export function MementoRows(props: {
  readonly mementos: readonly Memento[];
  readonly nameOf: (archive: string) => string;
  /** The selected index; the list scrolls to it when it changes. */
  readonly place: number;
  readonly onChoose: (place: number) => void;
  readonly onPick: (memento: Memento) => void;
}): JSX.Element {
  const { mementos, place, nameOf, onChoose, onPick } = props;
  const text = useText("time");
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const { length } = mementos;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const at = place * ROW;
    if (at < top || at + ROW > top + HEIGHT) element.scrollTop = at - HEIGHT / 2;
    setTop(element.scrollTop);
  }, [place, mementos]);
  const first = Math.max(0, Math.floor(top / ROW) - BESIDE);
  const last = Math.min(length, Math.ceil((top + HEIGHT) / ROW) + BESIDE);
  const move = (event: KeyboardEvent): void => {
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -place,
      End: length,
    };
    const step = steps[event.key as keyof typeof steps] ?? 0;
    if (step === 0) return;
    event.preventDefault();
    onChoose(Math.min(length - 1, Math.max(0, place + step)));
  };
  return (
    <div
      ref={box}
      class="rows box"
      role="listbox"
      aria-label={text("list")}
      aria-activedescendant={`memento-${place}`}
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown={move}
    >
      <div style={{ height: `${length * ROW}px` }}>
        {mementos.slice(first, last).map((memento, i) => {
          const each = first + i;
          return (
            <div
              key={each}
              id={`memento-${each}`}
              class="row"
              role="option"
              aria-selected={each === place}
              aria-setsize={length}
              aria-posinset={each + 1}
              style={{ top: `${each * ROW}px` }}
              onClick={() => onChoose(each)}
              onDblClick={() => onPick(memento)}
            >
              <time dateTime={new Date(memento.time).toISOString()}>
                {text.moment(memento.time)}
              </time>
              <span class="row-archive cut">
                <PlainText value={nameOf(memento.archive)} />
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
