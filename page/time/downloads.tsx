import type { JSX } from "preact";
import { TIME } from "../messages.ts";
import { useText } from "../text.ts";
import type { MementoStore } from "./memento-store.ts";

/** The TimeMap in the formats of the server, and what is shown as CSV. */
export function Downloads(props: {
  readonly base: string;
  readonly uri: string;
  readonly store: MementoStore;
  readonly order: Uint32Array;
}): JSX.Element {
  const { base, uri, store, order } = props;
  const text = useText(TIME);
  const save = (): void => {
    const lines = ["datetime,archive,uri"];
    for (const index of order) {
      const { time, archive, uri: memento } = store.at(index);
      lines.push([new Date(time).toISOString(), field(archive), field(memento)].join(","));
    }
    const url = URL.createObjectURL(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "timemap.csv";
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <p class="downloads">
      <span>{text("download")}</span>
      {["link", "json", "cdxj"].map((format) => (
        <a
          key={format}
          href={`${base}/timemap/${format}/${uri}`}
          download={`timemap.${format === "link" ? "link.txt" : format}`}
          type={TYPES[format]}
        >
          {format}
        </a>
      ))}
      <button type="button" class="quiet" onClick={save}>
        {text("csv")}
      </button>
    </p>
  );
}

const TYPES: Readonly<Record<string, string>> = {
  link: "application/link-format",
  json: "application/json",
  cdxj: "application/cdxj+ors",
};

/** A field of CSV (RFC 4180); spreadsheets must not take it for a formula. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
