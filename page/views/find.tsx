import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Finding } from "../find/ask.ts";
import { Findings, Legend, Summary } from "../find/findings.tsx";
import { type PageMap, useMaps } from "../maps/map-list.ts";
import { OpenMaps } from "../maps/map-picker.tsx";
import { FIND } from "../messages/find.ts";
import { PAGE } from "../page-data.ts";
import { PlainText, UriNote } from "../parts/uri.tsx";
import { typedUri } from "../parts/uri-text.ts";
import { UrlForm } from "../parts/url-form.tsx";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import type { ViewProps } from "../views.ts";
import "../maps/maps.css";
import "./find.css";

/** Keys that follow each other faster than this are one change. */
const SETTLED_MS = 40;

interface Answer {
  readonly uri: string;
  readonly findings: readonly Finding[];
  readonly fault?: string | undefined;
}

/** Find: which archives may hold a page, by their maps, as it is typed. */
export default function Find({ params }: ViewProps): JSX.Element {
  const text = useText(FIND);
  const maps = useMaps();
  const asked = params.get("url") ?? "";
  const [typed, setTyped] = useState(asked);
  const [answer, setAnswer] = useState<Answer>();
  const own = useRef(asked);
  // Back and forward in the history change the box, typing does not come back to it.
  useEffect(() => {
    if (asked !== own.current) setTyped(asked);
    own.current = asked;
  }, [asked]);
  useEffect(() => {
    const stop = new AbortController();
    const uri = typedUri(typed);
    const timer = setTimeout(() => {
      own.current = typed.trim();
      if (own.current !== asked) {
        navigate(hrefOf(PAGE, "find", { url: own.current }), { replace: true });
      }
      if (uri === "") {
        setAnswer(undefined);
        return;
      }
      ask(uri, stop.signal).then(
        (findings) => setAnswer({ uri, findings }),
        (error: unknown) => {
          if (!stop.signal.aborted) setAnswer({ uri, findings: [], fault: String(error) });
        },
      );
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed, maps]);
  return (
    <>
      <h1>{text(PAGE.service === "aggregator" || maps.length > 1 ? "title" : "titleOne")}</h1>
      <section class="card find-card" aria-label={text("button")}>
        <UrlForm
          label={text("label")}
          button={text("button")}
          value={typed}
          action={hrefOf(PAGE, "find")}
          onType={setTyped}
          onSubmit={() => setTyped(typed.trim())}
        />
        {answer === undefined && <p class="hint">{text("hint")}</p>}
        {PAGE.service === "static" && maps.length === 0 && (
          <OpenMaps isLarge onOpened={() => undefined} />
        )}
        <div aria-live="polite" class="answers">
          {answer !== undefined && <Answered answer={answer} />}
        </div>
      </section>
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

function Answered({ answer }: { readonly answer: Answer }): JSX.Element {
  const text = useText(FIND);
  if (answer.fault !== undefined) {
    return <p class="fault">{text("failed", { reason: answer.fault })}</p>;
  }
  return (
    <>
      <UriNote value={answer.uri} />
      <Summary findings={answer.findings} />
      {PAGE.service === "aggregator" && (
        <p class="onward">
          <a href={hrefOf(PAGE, "time", { url: answer.uri })}>{text("time")}</a>
        </p>
      )}
      <Findings findings={answer.findings} />
    </>
  );
}

/** How to find from anywhere: a bookmarklet, and the search engines of the browser. */
function Install(): JSX.Element {
  const text = useText(FIND);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // A link that runs a script is refused in markup by libraries; this one is only dragged.
    const home = new URL(hrefOf(PAGE, "find"), window.location.href).href;
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
