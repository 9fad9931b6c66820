import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { visible } from "../explore/part-label.ts";
import { useText } from "../text.ts";
import { openFile, type PageMap } from "./map-list.ts";

/** A button that opens map files, which can also be dropped anywhere on the page. */
export function OpenMaps(props: {
  readonly onOpened: (map: PageMap) => void;
  /** A large drop field for an otherwise empty page. */
  readonly isLarge?: boolean;
}): JSX.Element {
  const text = useText("maps");
  const { isLarge = false } = props;
  const { opening, fault, open } = useOpening(props.onOpened);
  const isOver = useDropped(open);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class={`open-maps ${isLarge ? "large" : ""} ${isOver ? "over" : ""}`}>
      {isLarge && (
        <>
          <p class="headline">{text("drop")}</p>
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
          open(currentTarget.files);
          currentTarget.value = "";
        }}
      />
      {isOver && !isLarge && <p class="drop-here">{text("drop")}</p>}
      <p class="drop-state hint" role="status">
        {opening !== undefined && (
          <>
            {text("opening", { name: opening.name, percent: text.share(opening.progress) })}{" "}
            <progress value={opening.progress} aria-label={opening.name} />
          </>
        )}
        {fault !== undefined && <span class="fault">{text("failed", fault)}</span>}
      </p>
    </div>
  );
}

/** Opens files one after the other; stops at the first error. */
function useOpening(onOpened: (map: PageMap) => void): {
  readonly opening: { readonly name: string; readonly progress: number } | undefined;
  readonly fault: { readonly name: string; readonly reason: string } | undefined;
  readonly open: (files: FileList | null) => void;
} {
  const [opening, setOpening] = useState<{ name: string; progress: number }>();
  const [fault, setFault] = useState<{ name: string; reason: string }>();
  const call = useRef(onOpened);
  call.current = onOpened;
  const open = async (files: readonly File[]): Promise<void> => {
    setFault(undefined);
    for (const file of files) {
      const name = visible(file.name);
      try {
        call.current(await openFile(file, (progress) => setOpening({ name, progress })));
      } catch (error) {
        setFault({ name, reason: visible(error instanceof Error ? error.message : "") });
        break;
      }
    }
    setOpening(undefined);
  };
  return { opening, fault, open: (files) => void open(Array.from(files ?? [])) };
}

/** Accepts files dropped on the page; returns whether files are being dragged over it. */
function useDropped(onDrop: (files: FileList) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const listen = (
      type: "dragover" | "dragleave" | "drop",
      on: (event: DragEvent) => void,
    ): void => window.addEventListener(type, on, stop);
    listen("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    });
    listen("dragleave", ({ relatedTarget }) => {
      if (relatedTarget === null) setOver(false);
    });
    listen("drop", (event) => {
      setOver(false);
      const { files } = event.dataTransfer ?? {};
      if (files === undefined || files.length === 0) return;
      event.preventDefault();
      onDrop(files);
    });
    return () => stop.abort();
  }, []);
  return isOver;
}
