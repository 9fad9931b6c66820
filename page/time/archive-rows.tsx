import type { JSX } from "preact";
import { PlainText } from "../parts/uri.tsx";
import { useText } from "../text.ts";
import { Strip } from "./strip.tsx";
import type { ArchiveProgress, MementoStream } from "./use-mementos.ts";

interface RowsProps {
  readonly archives: readonly ArchiveProgress[];
  readonly state: MementoStream["state"];
  readonly counts: ReadonlyMap<string, readonly number[]>;
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  readonly chosen: number | undefined;
}

/** One row per archive: its mementos over time, or the reason that there are none. */
export function ArchiveRows(props: RowsProps): JSX.Element {
  const text = useText("time");
  const holders = props.archives.filter(({ outcome }) => (outcome?.mementos ?? 0) > 0);
  const others = props.archives.filter((each) => !holders.includes(each));
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

function Rows({ archives, state, counts, hidden, onToggle, chosen }: RowsProps): JSX.Element {
  const text = useText("time");
  const reasons = useText("find");
  // All rows share one scale: few mementos must not look like many.
  const max = Math.max(1, ...[...counts.values()].flat());
  return (
    <ul class="archive-rows plain-list">
      {archives.map((archive) => {
        const { id, name, reason, asked, outcome } = archive;
        const count = outcome?.mementos ?? 0;
        const status = statusOf(archive, state);
        const why = outcome?.detail ?? outcome?.failure;
        const decision = outcome === undefined && !asked ? reason : "";
        return (
          <li key={id} class={`archive-row is-${status}`}>
            <span class="archive-name">
              {count > 0 ? (
                <label class="flow tight">
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
              {count > 0 ? (
                <Strip counts={counts.get(id) ?? []} max={max} chosen={chosen} />
              ) : (
                <PlainText value={why ?? reasons.find(`r-${decision}`) ?? decision} />
              )}
            </span>
            <span class="archive-count">
              {count > 0 ? text.count("mementos", count) : text(status)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

type Status = "hit" | "miss" | "error" | "pending" | "waiting" | "not-asked" | "dormant";

function statusOf({ asked, reason, outcome }: ArchiveProgress, state: RowsProps["state"]): Status {
  if (outcome !== undefined) return outcome.result;
  if (asked) return state === "asking" ? "waiting" : "pending";
  return reason === "dormant" ? "dormant" : "not-asked";
}
