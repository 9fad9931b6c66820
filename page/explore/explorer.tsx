import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MapChild, MapSlice, SliceOptions } from "../../src/maps/explore/map-slice.ts";
import { namesAbove, readableName } from "../../src/maps/explore/key-node.ts";
import type { PackedHoldings } from "../../src/maps/explore/packed-holdings.ts";
import { EXPLORE } from "../messages.ts";
import { Facts } from "../parts/facts.tsx";
import { formatNumber, formatPercent, useText } from "../text.ts";
import { Icicle } from "./icicle.tsx";
import { PackedView } from "./packed-view.tsx";
import { partLabel, readable, visible } from "./part-label.ts";
import { countOf, PartTable, rolledShare } from "./part-table.tsx";

type Load = (
  options: SliceOptions,
  onProgress: (share: number) => void,
) => Promise<MapSlice | PackedHoldings>;

export interface ExplorerProps {
  /** What is explored: where it changes, all is loaded again. */
  readonly source: string;
  readonly name: string;
  readonly load: Load;
  readonly prefix: string;
  readonly search: string;
  readonly onGo: (prefix: string, search?: string) => void;
  /** The address of a part, where there is one. */
  readonly hrefOf: (prefix: string) => string | undefined;
}

/** A map to explore: where the reader is, its parts as rectangles and as a table, a search. */
export function Explorer(props: ExplorerProps): JSX.Element {
  const { source, name, prefix, search, onGo, hrefOf } = props;
  const text = useText(EXPLORE);
  const { slice, fault, progress, isLoading, show, more } = useSlice(props);
  if (fault !== undefined) {
    return (
      <p role="alert" class="card fault">
        {text("fault", { reason: visible(fault) })}
      </p>
    );
  }
  if (slice === undefined) return <Opening name={name} progress={progress} />;
  if (slice.form === "packed") return <PackedView holdings={slice} />;
  const go = (part: MapChild | undefined): void => {
    if (part === undefined) {
      const above = slice.above.at(-1);
      if (above !== undefined) onGo(above.prefix);
      return;
    }
    show(part);
    onGo(part.prefix);
  };
  return (
    <section class="explorer" aria-busy={isLoading} key={source}>
      <Crumbs slice={slice} hrefOf={hrefOf} onGo={onGo} />
      <SliceFacts slice={slice} />
      <SearchForm search={search} onSearch={(words) => onGo(prefix, words)} />
      {search !== "" && (
        <Found slice={slice} search={search} isLoading={isLoading} onEnd={() => onGo(prefix)} />
      )}
      {slice.rows === 0 && <p class="hint">{text("empty")}</p>}
      {search === "" ? (
        <div class="explored">
          <div class="drawing">
            <Icicle slice={slice} onGo={go} />
            <Legend />
          </div>
          <div class="listing">
            <PartTable parts={slice.children} isWhole={false} hrefOf={hrefOf} onGo={go} />
            {slice.next !== null && <More isLoading={isLoading} onMore={more} />}
          </div>
        </div>
      ) : (
        <div class="listing">
          <PartTable parts={slice.children} isWhole hrefOf={hrefOf} onGo={go} />
          {slice.next !== null && <More isLoading={isLoading} onMore={more} />}
        </div>
      )}
    </section>
  );
}

interface Loaded {
  readonly key: string;
  readonly slice: MapSlice | PackedHoldings;
}

/** Searches go on by themselves until they have this many parts, or reach the end. */
const WANTED = 50;

function useSlice({ source, prefix, search, load }: ExplorerProps): {
  readonly slice: MapSlice | PackedHoldings | undefined;
  readonly fault: string | undefined;
  readonly progress: number | undefined;
  readonly isLoading: boolean;
  readonly show: (part: MapChild) => void;
  readonly more: () => void;
} {
  const [loaded, setLoaded] = useState<Loaded>();
  const [fault, setFault] = useState<string>();
  const [progress, setProgress] = useState<number>();
  const [isLoading, setLoading] = useState(false);
  const key = JSON.stringify([source, prefix, search]);
  const current = useRef(key);
  current.current = key;
  const options: SliceOptions =
    search === "" ? { prefix, depth: 3, limit: 200 } : { prefix, search, limit: WANTED };
  const get = async (from: string | undefined, before: readonly MapChild[]): Promise<void> => {
    setLoading(true);
    try {
      let children = before;
      let next: string | undefined = from;
      do {
        const slice = await load(
          { ...options, ...(next === undefined ? {} : { from: next }) },
          setProgress,
        );
        if (current.current !== key) return;
        setFault(undefined);
        setProgress(undefined);
        if (slice.form === "packed") {
          setLoaded({ key, slice });
          return;
        }
        children = [...children, ...slice.children];
        setLoaded({ key, slice: { ...slice, children } });
        next = slice.next ?? undefined;
      } while (search !== "" && next !== undefined && children.length < before.length + WANTED);
    } catch (error) {
      if (current.current === key) setFault(error instanceof Error ? error.message : String(error));
    } finally {
      if (current.current === key) setLoading(false);
    }
  };
  useEffect(() => {
    setFault(undefined);
    void get(undefined, []);
  }, [key]);
  const slice = loaded?.slice;
  return {
    // What was shown stays until what follows is there.
    slice: loaded !== undefined && sourceOf(loaded.key) === source ? slice : undefined,
    fault,
    progress,
    isLoading,
    show: (part) => {
      const next = JSON.stringify([source, part.prefix, ""]);
      setLoaded({ key: next, slice: provisional(part) });
    },
    more: () => {
      if (slice?.form === "text" && slice.next !== null) void get(slice.next, slice.children);
    },
  };
}

function sourceOf(key: string): string {
  const [source] = JSON.parse(key) as [string];
  return source;
}

/** A part as far as it is known, until its own slice is there. */
function provisional(part: MapChild): MapSlice {
  const above = namesAbove(part.prefix).map((prefix) => ({ prefix, url: readableName(prefix) }));
  const { hasChildren: _, ...rest } = part;
  return { ...rest, form: "text", above, coveredBy: [], children: part.children ?? [], next: null };
}

function Opening(props: {
  readonly name: string;
  readonly progress: number | undefined;
}): JSX.Element {
  const text = useText(EXPLORE);
  const { name, progress } = props;
  if (progress === undefined) return <p class="hint">{text("loading")}</p>;
  const percent = formatPercent(Math.round(progress * 100) / 100, text.language);
  return (
    <p class="hint" role="status">
      {text("opening", { name: visible(name), percent })}
      <progress value={progress} aria-label={visible(name)} />
    </p>
  );
}

function Crumbs(props: {
  readonly slice: MapSlice;
  readonly hrefOf: (prefix: string) => string | undefined;
  readonly onGo: (prefix: string) => void;
}): JSX.Element {
  const text = useText(EXPLORE);
  const { slice, hrefOf, onGo } = props;
  const labelOf = (prefix: string, url: string): string =>
    prefix === "" ? text("all") : partLabel({ prefix, url, kind: kindOfName(prefix) });
  return (
    <>
      <nav class="crumbs" aria-label={text("path")}>
        <ol>
          {slice.above.map(({ prefix, url }) => (
            <li key={prefix}>
              <a
                href={hrefOf(prefix) ?? "#"}
                onClick={(event) => {
                  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                  event.preventDefault();
                  onGo(prefix);
                }}
              >
                <bdi dir="ltr">{short(labelOf(prefix, url))}</bdi>
              </a>
            </li>
          ))}
          <li aria-current="location">
            <bdi dir="ltr">{short(labelOf(slice.prefix, slice.url))}</bdi>
          </li>
        </ol>
      </nav>
      {slice.prefix !== "" && (
        <dl class="names">
          <div>
            <dt>{text("url")}</dt>
            <dd>
              <code dir="ltr">{short(readable(slice.url), 300)}</code>
            </dd>
          </div>
          <div>
            <dt>{text("surt")}</dt>
            <dd>
              <code dir="ltr">{short(visible(slice.prefix), 300)}</code>
            </dd>
          </div>
        </dl>
      )}
    </>
  );
}

function kindOfName(prefix: string): "tld" | "domain" | "host" | "path" {
  if (prefix.includes(")")) return prefix.indexOf(")/") === prefix.length - 2 ? "host" : "path";
  return prefix.indexOf(",") === prefix.length - 1 ? "tld" : "domain";
}

function short(text: string, most: number = 60): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

function SliceFacts({ slice }: { readonly slice: MapSlice }): JSX.Element {
  const text = useText(EXPLORE);
  const keys = slice.coveredBy.map(({ key, frequency }) => `${key} ${frequency}`).join(", ");
  return (
    <>
      <Facts
        facts={[
          [text("captures"), countOf(slice, text)],
          [text("rows"), formatNumber(slice.rows, text.language)],
          [text("rolled"), formatPercent(rolledShare(slice), text.language)],
          [text("voids"), formatNumber(slice.voids, text.language)],
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
  const text = useText(EXPLORE);
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

function Found(props: {
  readonly slice: MapSlice;
  readonly search: string;
  readonly isLoading: boolean;
  readonly onEnd: () => void;
}): JSX.Element {
  const text = useText(EXPLORE);
  const { slice, search, isLoading, onEnd } = props;
  const count = slice.search === undefined ? 0 : slice.children.length;
  const number = formatNumber(count, text.language);
  const form = count === 1 ? "found.one" : "found.other";
  const more = slice.next === null ? "" : "+";
  return (
    <p class="found" role="status">
      {isLoading ? text("searching") : text(form, { count: number + more, text: visible(search) })}{" "}
      <button type="button" class="text-button" onClick={onEnd}>
        {text("clear")}
      </button>
    </p>
  );
}

function More(props: { readonly isLoading: boolean; readonly onMore: () => void }): JSX.Element {
  const text = useText(EXPLORE);
  return (
    <p class="more">
      <button type="button" class="quiet" disabled={props.isLoading} onClick={props.onMore}>
        {text("more")}
      </button>
    </p>
  );
}

function Legend(): JSX.Element {
  const text = useText(EXPLORE);
  return (
    <p class="shades">
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
