import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { visible } from "../explore/part-label.ts";
import { useText } from "../text.ts";
import { openFile, type PageMap } from "./map-list.ts";

/** A button that opens map files, which can also be dropped anywhere on the page. */
export function OpenMaps(props: {
  readonly onOpened: (map: PageMap) => void;
  /** A large field where there is nothing else to see. */
  readonly isLarge?: boolean | undefined;
}): JSX.Element {
  const text = useText("maps");
  const { isLarge = false } = props;
  const { state, isOver, take } = useDroppedFiles(props.onOpened);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class={`open-maps ${isLarge ? "large" : ""} ${isOver ? "over" : ""}`}>
      {isLarge && (
        <>
          <p class="drop-title">{text("drop")}</p>
          <p class="hint">{text("dropHint")}</p>
        </>
      )}
      <button type="button" class={isLarge ? "" : "quiet"} onClick={() => input.current?.click()}>
        {text("open")}
      </button>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label={text("open")}
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
          currentTarget.value = "";
        }}
      />
      {isOver && !isLarge && <p class="drop-here">{text("drop")}</p>}
      <p class="drop-state" role="status">
        {state?.kind === "opening" && (
          <>
            {text("opening", {
              name: visible(state.name),
              percent: text.share(state.progress),
            })}{" "}
            <progress value={state.progress} aria-label={visible(state.name)} />
          </>
        )}
        {state?.kind === "failed" && (
          <span class="fault">
            {text("failed", { name: visible(state.name), reason: visible(state.reason) })}
          </span>
        )}
      </p>
    </div>
  );
}

type State =
  | { readonly kind: "opening"; readonly name: string; readonly progress: number }
  | { readonly kind: "failed"; readonly name: string; readonly reason: string };

function useDroppedFiles(onOpened: (map: PageMap) => void): {
  readonly state: State | undefined;
  readonly isOver: boolean;
  readonly take: (files: FileList | null) => void;
} {
  const [state, setState] = useState<State>();
  const [isOver, setOver] = useState(false);
  const call = useRef(onOpened);
  call.current = onOpened;
  const take = (files: FileList | null): void => {
    const all = Array.from(files ?? []);
    const open = async (): Promise<void> => {
      for (const file of all) {
        const { name } = file;
        setState({ kind: "opening", name, progress: 0 });
        try {
          const map = await openFile(file, (progress) =>
            setState({ kind: "opening", name, progress }),
          );
          setState(undefined);
          call.current(map);
        } catch (error) {
          setState({ kind: "failed", name, reason: error instanceof Error ? error.message : "" });
          return;
        }
      }
    };
    void open();
  };
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      take(event.dataTransfer.files);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, []);
  return { state, isOver, take };
}
