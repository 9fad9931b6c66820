import { type ComponentChild, h, render } from "preact";
import { LanguageContext, languageOf } from "../text.ts";

/**
 * A custom element that shows part of the application, rendered when it is connected and when an
 * attribute changes. The nearest `lang` attribute selects the language.
 */
export abstract class PageElement extends HTMLElement {
  readonly #root: ShadowRoot;

  constructor(sheet: CSSStyleSheet) {
    super();
    this.#root = this.attachShadow({ mode: "open" });
    this.#root.adoptedStyleSheets = [sheet];
  }

  /** Renders the current content. */
  protected abstract content(): ComponentChild;

  connectedCallback(): void {
    this.draw();
  }

  disconnectedCallback(): void {
    render(null, this.#root);
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.draw();
  }

  protected draw(): void {
    const value = languageOf(this.closest("[lang]")?.getAttribute("lang") ?? "") ?? "en";
    render(h(LanguageContext.Provider, { value }, this.content()), this.#root);
  }

  /** The value of an attribute; undefined if it is missing or empty. */
  protected attribute(name: string): string | undefined {
    const value = this.getAttribute(name)?.trim() ?? "";
    return value === "" ? undefined : value;
  }
}
