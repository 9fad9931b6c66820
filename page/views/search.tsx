import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type PastedAddress, pastedAddress } from "../../src/http/original-uri.ts";
import { ask, askedBefore, askPath, type Finding } from "../find/ask.ts";
import { Findings, Legend, Summary } from "../find/findings.tsx";
import { type PageMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { FIND } from "../messages.ts";
import { PAGE } from "../page-data.ts";
import { PlainText, UriNote } from "../parts/uri.tsx";
import { UrlForm } from "../parts/url-form.tsx";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import { Mementos } from "../time/mementos.tsx";
import type { ViewProps } from "../views.ts";

/** Keys that follow each other faster than this are one change. */
const SETTLED_MS = 40;

interface Answer {
  readonly uri: string;
  readonly findings: readonly Finding[];
  readonly fault?: string | undefined;
}

/** The address that a text is; undefined for what is none, such as words. */
function addressOf(text: string): PastedAddress | undefined {
  try {
    return pastedAddress(text);
  } catch {
    return undefined;
  }
}

export function needs(params: URLSearchParams): readonly string[] {
  const address = addressOf(params.get("url") ?? "");
  const path = address === undefined ? undefined : askPath(address.uri);
  return path === undefined ? [] : [path];
}

/**
 * Search: which archives hold a page, by their maps, as it is typed; and from an aggregator, once it is
 * submitted, its mementos.
 */
export default function Search({ params }: ViewProps): JSX.Element {
  const text = useText(FIND);
  const maps = useMaps();
  const asked = params.get("url") ?? "";
  const [typed, setTyped] = useState(asked);
  const address = addressOf(typed);
  const uri = address?.uri;
  const [answer, setAnswer] = useState<Answer | undefined>(() => {
    const findings = uri === undefined ? undefined : askedBefore(uri);
    return uri === undefined || findings === undefined ? undefined : { uri, findings };
  });
  useEffect(() => setTyped(asked), [asked]);
  useEffect(() => {
    if (uri === undefined) {
      setAnswer(undefined);
      return undefined;
    }
    if (answer?.uri === uri && answer.findings.length > 0 && maps.every(({ isOwn }) => !isOwn)) {
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask(uri, stop.signal).then(
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
  const submitted = addressOf(asked);
  const isAggregator = PAGE.service === "aggregator";
  return (
    <>
      <h1>{text(isAggregator || maps.length > 1 ? "title" : "titleOne")}</h1>
      <section class="card find-card" aria-label={text("button")}>
        <UrlForm
          label={text("label")}
          button={text("button")}
          value={typed}
          action={hrefOf(PAGE, "search")}
          onType={setTyped}
          onSubmit={() => navigate(hrefOf(PAGE, "search", { url: typed.trim() }))}
        />
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
          {answer !== undefined && !isAggregator && <Findings findings={answer.findings} />}
        </div>
        {isAggregator && answer !== undefined && submitted?.uri !== answer.uri && (
          <p class="hint">{text("submit")}</p>
        )}
      </section>
      {isAggregator && submitted !== undefined && (
        <Mementos
          key={submitted.uri}
          uri={submitted.uri}
          at={params.get("at") ?? submitted.datetime}
          onChoose={(at) => navigate(hrefOf(PAGE, "search", { url: asked, at }), { replace: true })}
        />
      )}
      {isAggregator && answer !== undefined && (
        <details class="card quiet" open={submitted?.uri !== answer.uri}>
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

/** The archives or maps that are asked, before anything is. */
function AtHand({ maps }: { readonly maps: readonly PageMap[] }): JSX.Element | null {
  const text = useText(FIND);
  const rows =
    PAGE.service === "aggregator"
      ? PAGE.archives.map(({ id, name, hasMap }) => ({
          id,
          name: <PlainText value={name} />,
          note: text(hasMap ? "hasMap" : "hasNoMap"),
        }))
      : maps.map(({ id, name, rows: keys }) => ({
          id,
          name: (
            <a href={hrefOf(PAGE, "explore", { map: id })}>
              <PlainText value={name} />
            </a>
          ),
          note: text.count("keys", keys),
        }));
  if (rows.length === 0) return null;
  const stem = PAGE.service === "aggregator" ? "archivesHere" : "mapsHere";
  return (
    <section class="card">
      <h2>{text.count(stem, rows.length)}</h2>
      <ul class="at-hand">
        {rows.map(({ id, name, note }) => (
          <li key={id}>
            {name} <small>{note}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How to find from anywhere: a bookmarklet, and the search engines of the browser. */
function Install(): JSX.Element {
  const text = useText(FIND);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // A link that runs a script is refused in markup by libraries; this one is only dragged.
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
          class="bookmarklet"
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
