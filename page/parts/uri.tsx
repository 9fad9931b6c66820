import type { JSX } from "preact";
import { useText } from "../text.ts";
import { type Piece, pieces, uriText } from "./uri-text.ts";

/** A note on a URI below its input, if its readable form differs or it may be deceptive. */
export function UriNote({ value }: { readonly value: string }): JSX.Element | null {
  const text = useText("parts");
  const { raw, readable, mixed } = uriText(value);
  if (readable === undefined && mixed === undefined && raw.every(({ isMark }) => !isMark)) {
    return null;
  }
  return (
    <p class="uri-note">
      <bdi class="uri-raw" dir="ltr">
        <Pieces all={raw} />
      </bdi>
      {readable !== undefined && (
        <span class="uri-readable">
          {text("readable")}{" "}
          <bdi dir="ltr">
            <Pieces all={readable} />
          </bdi>
        </span>
      )}
      {mixed !== undefined && (
        <span class="uri-warning">
          {text("mixed", { label: mixed.label, scripts: mixed.scripts.join(", ") })}
        </span>
      )}
    </p>
  );
}

/** Untrusted text, with invisible characters made visible. */
export function PlainText({ value }: { readonly value: string }): JSX.Element {
  return (
    <bdi>
      <Pieces all={pieces(value)} />
    </bdi>
  );
}

function Pieces({ all }: { readonly all: readonly Piece[] }): JSX.Element {
  return (
    <>
      {all.map(({ text, isMark }, index) =>
        isMark ? (
          <mark key={index} class="unseen">
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </>
  );
}

/** An untrusted URI becomes a link only if it is a web address. */
export function webUri(uri: string): string {
  return /^https?:\/\//i.test(uri) ? uri : "about:blank";
}
