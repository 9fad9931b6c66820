import type { JSX } from "preact";
import { useText } from "../text.ts";
import type { Memento } from "./memento.ts";

/** The TimeMap in the formats of the server, and the mementos in the list as CSV. */
export function Downloads(props: {
  readonly base: string;
  readonly uri: string;
  readonly mementos: readonly Memento[];
}): JSX.Element {
  const { base, uri, mementos } = props;
  const text = useText("time");
  const save = (): void => {
    const rows = mementos.map(({ time, archive, uri: memento }) =>
      [new Date(time).toISOString(), field(archive), field(memento)].join(","),
    );
    const content = ["datetime,archive,uri", ...rows, ""].join("\r\n");
    const url = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href: url, download: "timemap.csv" }).click();
    URL.revokeObjectURL(url);
  };
  return (
    <p class="downloads flow">
      <span>{text("download")}</span>
      {["link", "json", "cdxj"].map((format) => (
        <a
          key={format}
          href={`${base}/timemap/${format}/${uri}`}
          download={`timemap.${format === "link" ? "link.txt" : format}`}
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

/** A field of CSV (RFC 4180); spreadsheets must not treat it as a formula. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
