import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type PastedAddress, pastedAddress } from "../../src/http/original-uri.ts";
import { answeredLookup, type Finding, lookUp, lookupPath } from "../find/ask.ts";
import { Findings, Legend, Summary } from "../find/findings.tsx";
import { type PageMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { PAGE } from "../page-data.ts";
import { PlainText, UriNote } from "../parts/uri.tsx";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import { Mementos } from "../time/mementos.tsx";
import type { ViewProps } from "../views.ts";

/** Delay before a lookup: keystrokes in between are coalesced. */
const SETTLED_MS = 40;

interface Answer {
  readonly uri: string;
  readonly findings: readonly Finding[];
  readonly fault?: string | undefined;
}

/** The address in a text; undefined if it is not an address. */
function addressOf(text: string): PastedAddress | undefined {
  try {
    return pastedAddress(text);
  } catch {
    return undefined;
  }
}

export function needs(params: URLSearchParams): readonly string[] {
  const address = addressOf(params.get("url") ?? "");
  const path = address && lookupPath(address.uri);
  return path === undefined ? [] : [path];
}

/** Text typed before the script ran. */
function typedEarly(): string | undefined {
  if (typeof document === "undefined") return undefined;
  return document.querySelector<HTMLInputElement>("#url")?.value;
}

/** The findings of all maps for a page; initially those that the server rendered. */
function useAnswer(uri: string | undefined, maps: readonly PageMap[]): Answer | undefined {
  const [answer, setAnswer] = useState<Answer | undefined>(() => {
    const findings = uri === undefined ? undefined : answeredLookup(uri);
    return uri === undefined || findings === undefined ? undefined : { uri, findings };
  });
  useEffect(() => {
    if (uri === undefined) {
      setAnswer(undefined);
      return undefined;
    }
    const isKnown = answer?.uri === uri && answer.findings.length > 0;
    if (isKnown && maps.every(({ isOwn }) => !isOwn)) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      lookUp(uri, stop.signal).then(
        (findings) => setAnswer({ uri, findings }),
        (error: unknown) => {
          const fault = error instanceof Error ? error.message : String(error);
          if (!stop.signal.aborted) setAnswer({ uri, findings: [], fault });
        },
      );
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [uri, maps]);
  return answer;
}

/**
 * Search: finds the archives that hold a page, from their maps, as the user types. With an aggregator,
 * submitting the form loads the mementos.
 */
export default function Search({ params }: ViewProps): JSX.Element {
  const text = useText("find");
  const maps = useMaps();
  const query = params.get("url") ?? "";
  const [typed, setTyped] = useState(() => typedEarly() || query);
  const last = useRef(query);
  useEffect(() => {
    if (last.current !== query) setTyped(query);
    last.current = query;
  }, [query]);
  const uri = addressOf(typed)?.uri;
  const answer = useAnswer(uri, maps);
  const submitted = addressOf(query);
  const isSubmitted = answer?.uri === submitted?.uri;
  const isAggregator = PAGE.service === "aggregator";
  return (
    <>
      <h1>{text(isAggregator || maps.length > 1 ? "title" : "titleOne")}</h1>
      <section class="card find-card" aria-label={text("button")}>
        <form
          action={hrefOf(PAGE, "search")}
          method="get"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            navigate(hrefOf(PAGE, "search", { url: typed.trim() }));
          }}
        >
          <label for="url">{text("label")}</label>
          <input
            id="url"
            name="url"
            type="text"
            inputMode="url"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxLength={8192}
            required
            dir="ltr"
            placeholder="https://example.org/news"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <button type="submit">{text("button")}</button>
        </form>
        {typed.trim() === "" ? (
          <p class="hint">{text(isAggregator ? "hintAsks" : "hint")}</p>
        ) : (
          uri === undefined && <p class="hint">{text("noAddress")}</p>
        )}
        {uri !== undefined && <UriNote value={uri} />}
        {PAGE.service === "static" && maps.length === 0 && (
          <OpenMaps isLarge onOpened={() => undefined} />
        )}
        <div aria-live="polite" class="answers">
          {answer?.fault !== undefined && (
            <p class="fault">{text("failed", { reason: answer.fault })}</p>
          )}
          {answer !== undefined && <Summary findings={answer.findings} />}
        </div>
        {answer !== undefined && !isAggregator && <Findings findings={answer.findings} />}
        {isAggregator && answer !== undefined && !isSubmitted && (
          <p class="hint">{text("submit")}</p>
        )}
      </section>
      {isAggregator && submitted !== undefined && (
        <Mementos
          key={submitted.uri}
          uri={submitted.uri}
          base={PAGE.base}
          at={params.get("at") ?? submitted.datetime}
          onChoose={(at) => navigate(hrefOf(PAGE, "search", { url: query, at }), { replace: true })}
        />
      )}
      {isAggregator && answer !== undefined && (
        <details class="card quiet" open={!isSubmitted}>
          <summary>{text("why")}</summary>
          <Findings findings={answer.findings} />
        </details>
      )}
      {answer === undefined ? (
        <div class="columns">
          <AtHand maps={maps} />
          <section class="card">
            <h2>{text("legend")}</h2>
            <Legend />
          </section>
        </div>
      ) : (
        <details class="card quiet">
          <summary>{text("legend")}</summary>
          <Legend />
        </details>
      )}
      <Install />
    </>
  );
}

/** The archives of an aggregator, or the maps of a publisher. */
function AtHand({ maps }: { readonly maps: readonly PageMap[] }): JSX.Element | null {
  const text = useText("find");
  const isAggregator = PAGE.service === "aggregator";
  const all = isAggregator ? PAGE.archives : maps;
  if (all.length === 0) return null;
  return (
    <section class="card">
      <h2>{text.count(isAggregator ? "archivesHere" : "mapsHere", all.length)}</h2>
      <ul class="at-hand plain-list">
        {all.map((each) => {
          const name = <PlainText value={each.name} />;
          return (
            <li key={each.id} class="flow">
              {"hasMap" in each ? (
                name
              ) : (
                <a href={hrefOf(PAGE, "explore", { map: each.id })}>{name}</a>
              )}{" "}
              <small>
                {"hasMap" in each
                  ? text(each.hasMap ? "hasMap" : "hasNoMap")
                  : text.count("keys", each.records)}
              </small>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Ways to search from outside the page: a bookmarklet, and the search engines of the browser. */
function Install(): JSX.Element {
  const text = useText("find");
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // Preact rejects `javascript:` links in markup; this one is only dragged.
    const home = new URL(hrefOf(PAGE, "search"), window.location.href).href;
    const script = `location.href=${JSON.stringify(`${home}?url=`)}+encodeURIComponent(location.href)`;
    link.current?.setAttribute("href", `javascript:${script}`);
  }, []);
  return (
    <details class="card quiet">
      <summary>{text("install")}</summary>
      <p>
        <a
          ref={link}
          class="button bookmarklet"
          href="#url"
          draggable
          onClick={(event) => event.preventDefault()}
        >
          {text("bookmarklet")}
        </a>{" "}
        {text("bookmarkletHint")}
      </p>
      {PAGE.service !== "static" && <p>{text("searchHint")}</p>}
    </details>
  );
}
