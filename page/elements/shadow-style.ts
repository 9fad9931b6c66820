import { APP_STYLE } from "../../src/page/app-style.ts";

/**
 * The style of the application for an element on a third-party page. Document rules apply to the element,
 * and media queries on the window become queries on the width of the element.
 */
export function shadowSheet(...styles: readonly string[]): CSSStyleSheet {
  const text = [APP_STYLE, ...styles, HOST_STYLE]
    .join("\n")
    .replaceAll(/:root(\[[^\]]*\])?/g, (_, attribute: string | undefined) =>
      attribute === undefined ? ":host" : `:host(${attribute})`,
    )
    .replaceAll("data-theme", "theme")
    .replaceAll(/^body\b/gm, ":host")
    .replaceAll("@media (max-width:", "@container (max-width:");
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

const HOST_STYLE = `
:host { display: block; padding: 1rem; border: 1px solid var(--line); border-radius: var(--radius); container-type: inline-size; text-align: start; }
:host([hidden]) { display: none; }
.chosen { position: static; }
`;
