import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Drawing, drawingHtml } from "../../src/page/chart/drawing.ts";

/** A chart of reports; a value is shown where the pointer is, or where the reader taps. */
export function Chart(props: {
  readonly drawing: Drawing;
  /** What it shows, for those who do not see it. */
  readonly label: string;
}): JSX.Element {
  const [tip, setTip] = useState("");
  const show = ({ target }: Event): void => {
    setTip(target instanceof Element ? (target.getAttribute("data-tip") ?? "") : "");
  };
  return (
    <figure
      class="chart"
      onPointerMove={show}
      onPointerDown={show}
      onPointerLeave={() => setTip("")}
    >
      {/* Drawn by our own functions, which escape all text. */}
      <div dangerouslySetInnerHTML={{ __html: drawingHtml(props.drawing, props.label) }} />
      <p class="chart-tip hint" aria-hidden="true">
        {tip}
      </p>
    </figure>
  );
}
