import type { JSX } from "preact";
import { FIND, TIME } from "../messages.ts";
import { PlainText } from "../parts/uri.tsx";
import { useText } from "../text.ts";
import { Strip } from "./strip.tsx";
import type { ArchiveProgress } from "./use-mementos.ts";

/** A row for every archive: its mementos over time, or why there are none. */
export function ArchiveRows(props: RowsProps): JSX.Element {
  const text = useText(TIME);
  const others = props.archives.filter((each) => !hasMementos(each));
  const holders = props.archives.filter(hasMementos);
  return (
    <>
      <Rows {...props} archives={holders} />
      {others.length > 0 && (
        <details open={holders.length === 0}>
          <summary>
            {text("others")} ({others.length})
          </summary>
          <Rows {...props} archives={others} />
        </details>
      )}
    </>
  );
}

function hasMementos({ outcome }: ArchiveProgress): boolean {
  return (outcome?.mementos ?? 0) > 0;
}

interface RowsProps {
  readonly archives: readonly ArchiveProgress[];
  readonly density: ReadonlyMap<string, Uint32Array>;
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  readonly chosen: number | undefined;
}

function Rows(props: RowsProps): JSX.Element {
  const { archives, density, hidden, onToggle, chosen } = props;
  const text = useText(TIME);
  return (
    <ul class="archive-rows">
      {archives.map((archive) => {
        const { id, name, outcome } = archive;
        const count = outcome?.mementos ?? 0;
        const counts = density.get(id);
        return (
          <li key={id} class={`archive-row is-${stateOf(archive)}`}>
            <span class="archive-name">
              {count > 0 ? (
                <label>
                  <input
                    type="checkbox"
                    checked={!hidden.has(id)}
                    aria-label={text("show", { name })}
                    onChange={() => onToggle(id)}
                  />
                  <PlainText value={name} />
                </label>
              ) : (
                <PlainText value={name} />
              )}
            </span>
            <span class="archive-strip">
              {counts !== undefined && count > 0 ? (
                <Strip counts={counts} className="slim" chosen={chosen} />
              ) : (
                <Reason archive={archive} />
              )}
            </span>
            <span class="archive-count">
              {count > 0 ? text.count("mementos", count) : <StateWord archive={archive} />}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

type State = "hit" | "miss" | "error" | "pending" | "waiting" | "not-asked" | "dormant";

function stateOf({ isAsked, reason, outcome }: ArchiveProgress): State {
  if (outcome !== undefined) return outcome.result;
  if (isAsked) return "waiting";
  return reason === "dormant" ? "dormant" : "not-asked";
}

function StateWord({ archive }: { readonly archive: ArchiveProgress }): JSX.Element {
  const text = useText(TIME);
  return <>{text(stateOf(archive))}</>;
}

/** Why an archive has nothing to show: what it answered, or why it was not asked. */
function Reason({ archive }: { readonly archive: ArchiveProgress }): JSX.Element {
  const text = useText(FIND);
  const { outcome, reason } = archive;
  const detail = outcome?.detail ?? outcome?.failure;
  if (detail !== undefined && detail !== null) return <PlainText value={detail} />;
  if (outcome !== undefined || archive.isAsked) return <></>;
  const key = `r-${reason}`;
  return <>{key in FIND.en ? text(key as keyof (typeof FIND)["en"]) : reason}</>;
}
