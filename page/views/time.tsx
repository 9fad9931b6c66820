import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { TIME } from "../messages/time.ts";
import { PAGE } from "../page-data.ts";
import { typedUri } from "../parts/uri-text.ts";
import { UrlForm } from "../parts/url-form.tsx";
import { hrefOf, navigate } from "../router.ts";
import { useText } from "../text.ts";
import { Progress, Timeline } from "../time/timeline.tsx";
import { useMementos } from "../time/use-mementos.ts";
import type { ViewProps } from "../views.ts";
import "./time.css";

/** Browsers refuse to change the address more than some hundred times in half a minute. */
const SETTLED_MS = 250;

/** Time: the mementos of a page in all archives, as they answer. */
export default function Time({ params }: ViewProps): JSX.Element {
  const text = useText(TIME);
  const uri = typedUri(params.get("url") ?? "");
  const [typed, setTyped] = useState(uri);
  useEffect(() => setTyped(uri), [uri]);
  const mementos = useMementos(PAGE.base, uri);
  const settling = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(settling.current), [uri]);
  const keep = (at: string): void => {
    clearTimeout(settling.current);
    settling.current = setTimeout(() => {
      navigate(hrefOf(PAGE, "time", { url: uri, at }), { replace: true });
    }, SETTLED_MS);
  };
  return (
    <>
      <h1>{text("title")}</h1>
      <section class="card" aria-label={text("button")}>
        <UrlForm
          label={text("label")}
          button={text("button")}
          value={typed}
          action={hrefOf(PAGE, "time")}
          onType={setTyped}
          onSubmit={() => navigate(hrefOf(PAGE, "time", { url: typedUri(typed) }))}
        />
        {uri === "" ? (
          <p class="hint">{text("hint")}</p>
        ) : (
          <Progress uri={uri} mementos={mementos} />
        )}
      </section>
      {mementos.archives.length > 0 && (
        <Timeline
          uri={uri}
          mementos={mementos}
          base={PAGE.base}
          at={params.get("at") ?? undefined}
          onChoose={keep}
        />
      )}
    </>
  );
}
