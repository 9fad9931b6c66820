import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { kindOf } from "../../src/maps/explore/key-node.ts";
import type { MapSlice } from "../../src/maps/explore/map-slice.ts";
import { Facts } from "../parts/facts.tsx";
import { type Text, useText } from "../text.ts";
import { Icicle } from "./icicle.tsx";
import { PackedView } from "./packed-view.tsx";
import { partLabel, readable, rolledShare, shortened, visible } from "./part-label.ts";
import { PartLink, type PlaceProps } from "./part-link.tsx";
import { countText, PartTable } from "./part-table.tsx";
import { type SliceSource, useSlice } from "./use-slice.ts";

/** The explorer of a map: the path, the parts as rectangles and as a table, and a search. */
export function Explorer(
  props: SliceSource & {
    readonly name: string;
    readonly onGo: (prefix: string, search?: string) => void;
    readonly hrefOf: PlaceProps["hrefOf"];
  },
): JSX.Element {
  const { prefix, search, onGo, hrefOf } = props;
  const name = visible(props.name);
  const text = useText("explore");
  const { slice, fault, progress, isLoading, more } = useSlice(props);
  if (fault !== undefined) {
    return (
      <p role="alert" class="card fault">
        {text("fault", { reason: visible(fault) })}
      </p>
    );
  }
  if (slice === undefined) {
    if (progress === undefined) return <p class="hint">{text("loading")}</p>;
    return (
      <p class="hint" role="status">
        {text("opening", { name, percent: text.share(progress) })}
        <progress value={progress} aria-label={name} />
      </p>
    );
  }
  if (slice.form === "packed") return <PackedView holdings={slice} />;
  const go = (to: string): void => onGo(to);
  return (
    <section class="explorer" aria-busy={isLoading}>
      <Crumbs slice={slice} hrefOf={hrefOf} onGo={go} />
      <SliceFacts slice={slice} />
      <SearchForm search={search} onSearch={(words) => onGo(prefix, words)} />
      {search !== "" && (
        <p class="found" role="status">
          {isLoading ? text("searching") : foundText(slice, search, text)}{" "}
          <button type="button" class="text-button" onClick={() => onGo(prefix)}>
            {text("clear")}
          </button>
        </p>
      )}
      {slice.rows === 0 && <p class="hint">{text("empty")}</p>}
      <div class={search === "" ? "explored" : ""}>
        {search === "" && (
          <div class="drawing">
            <Icicle
              slice={slice}
              onGo={(part) => onGo((part ?? slice.above.at(-1))?.prefix ?? "")}
            />
            <Legend />
          </div>
        )}
        <div class="listing">
          <PartTable parts={slice.children} isWhole={search !== ""} hrefOf={hrefOf} onGo={go} />
          {slice.next !== null && (
            <p class="more hint">
              <button type="button" class="quiet" disabled={isLoading} onClick={more}>
                {text("more")}
              </button>
            </p>
          )}
        </div>
      </div>
    </section>
  );
}

function Crumbs({ slice, ...place }: PlaceProps & { readonly slice: MapSlice }): JSX.Element {
  const text = useText("explore");
  const labelOf = ({ prefix, url }: { prefix: string; url: string }): JSX.Element => {
    const label = partLabel({ prefix, url, kind: kindOf(prefix) });
    return <bdi dir="ltr">{prefix === "" ? text("all") : shortened(label, 60)}</bdi>;
  };
  const names = [
    [text("url"), readable(slice.url)],
    [text("surt"), visible(slice.prefix)],
  ] as const;
  return (
    <>
      <nav class="crumbs" aria-label={text("path")}>
        <ol class="plain-list flow tight">
          {slice.above.map((part) => (
            <li key={part.prefix}>
              <PartLink {...place} prefix={part.prefix}>
                {labelOf(part)}
              </PartLink>
            </li>
          ))}
          <li aria-current="location">{labelOf(slice)}</li>
        </ol>
      </nav>
      {slice.prefix !== "" && (
        <dl class="names hint flow">
          {names.map(([name, value]) => (
            <div key={name} class="flow tight">
              <dt>{name}</dt>
              <dd class="plain-list">
                <code dir="ltr">{shortened(value, 300)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function SliceFacts({ slice }: { readonly slice: MapSlice }): JSX.Element {
  const text = useText("explore");
  const keys = slice.coveredBy.map(({ key, frequency }) => `${key} ${frequency}`).join(", ");
  return (
    <>
      <Facts
        class="box"
        facts={[
          [text("captures"), countText(slice, text)],
          [text("rows"), text.number(slice.rows)],
          [text("rolled"), text.percent(rolledShare(slice))],
          [text("voids"), text.number(slice.voids)],
        ]}
      />
      {keys !== "" && <p class="hint">{text("covered", { keys: visible(keys) })}</p>}
      {slice.total !== undefined && (
        <p class="hint">{text("total", { total: visible(slice.total) })}</p>
      )}
    </>
  );
}

function SearchForm(props: {
  readonly search: string;
  readonly onSearch: (words: string) => void;
}): JSX.Element {
  const text = useText("explore");
  const [typed, setTyped] = useState(props.search);
  useEffect(() => setTyped(props.search), [props.search]);
  return (
    <form
      class="part-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSearch(typed.trim());
      }}
    >
      <label for="part-search">{text("search")}</label>
      <input
        id="part-search"
        type="search"
        value={typed}
        maxLength={500}
        spellcheck={false}
        autocomplete="off"
        placeholder={text("searchHint")}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button type="submit">{text("find")}</button>
    </form>
  );
}

function foundText(slice: MapSlice, search: string, text: Text<"explore">): string {
  const found = slice.search === undefined ? 0 : slice.children.length;
  const count = text.number(found) + (slice.next === null ? "" : "+");
  return text(`found.${text.plural(found)}`, { count, text: visible(search) });
}

function Legend(): JSX.Element {
  const text = useText("explore");
  return (
    <p class="shades hint flow">
      <span class="visually-hidden">{text("legend")}: </span>
      <span>
        {text("legendKept")}{" "}
        {[0, 1, 2, 3, 4].map((step) => (
          <i key={step} class={`shade rolled${step}`} />
        ))}{" "}
        {text("legendRolled")}
      </span>
      <span>
        <i class="shade hatched" /> {text("legendVoid")}
      </span>
    </p>
  );
}
