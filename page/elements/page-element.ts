import { type ComponentChild, h, render } from "preact";
import { LanguageContext, languageOf } from "../text.ts";

/**
 * An element that shows a part of the application: drawn when it is put into a page, and again when
 * an attribute changes. `lang` of it or of the page chooses the language.
 */
export abstract class PageElement extends HTMLElement {
  readonly #root: ShadowRoot;

  constructor(sheet: CSSStyleSheet) {
    super();
    this.#root = this.attachShadow({ mode: "open" });
    this.#root.adoptedStyleSheets = [sheet];
  }

  /** What it shows now. */
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

  /** An attribute; undefined where it is not there or empty. */
  protected attribute(name: string): string | undefined {
    const value = this.getAttribute(name)?.trim() ?? "";
    return value === "" ? undefined : value;
  }
}
