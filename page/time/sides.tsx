import type { JSX } from "preact";
import { PlainText, webUri } from "../parts/uri.tsx";
import { useText } from "../text.ts";
import type { Memento } from "./memento.ts";

/**
 * Two mementos side by side. The frames are sandboxed: archived scripts can neither access this page nor
 * open others.
 */
export function Sides(props: {
  readonly picked: readonly Memento[];
  readonly nameOf: (archive: string) => string;
  readonly onRemove: (memento: Memento) => void;
}): JSX.Element {
  const { picked, nameOf, onRemove } = props;
  const text = useText("time");
  return (
    <section class="card" aria-label={text("sides")}>
      <h2>{text("sides")}</h2>
      <div class="sides">
        {picked.map((memento) => {
          const moment = text.moment(memento.time);
          const title = `${nameOf(memento.archive)}, ${moment}`;
          return (
            <figure key={memento.uri}>
              <figcaption class="flow">
                <strong>
                  <PlainText value={nameOf(memento.archive)} />
                </strong>
                <time>{moment}</time>
                <a href={webUri(memento.uri)} target="_blank" rel="noreferrer noopener">
                  {text("open")}
                </a>
                <button type="button" class="quiet" onClick={() => onRemove(memento)}>
                  {text("remove")}
                </button>
              </figcaption>
              <iframe
                class="box"
                src={webUri(memento.uri)}
                title={title}
                sandbox="allow-scripts"
                referrerpolicy="no-referrer"
                loading="lazy"
              />
            </figure>
          );
        })}
      </div>
      <p class="hint">{text(picked.length < 2 ? "sidesHint" : "framesHint")}</p>
    </section>
  );
}
