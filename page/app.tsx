import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ViewName, viewsOf } from "../src/page/page-data.ts";

import { PAGE } from "./page-data.ts";
import { type Address, hrefOf, navigate, onAddress, ownTarget, readAddress } from "./router.ts";
import {
  type Language,
  LanguageContext,
  LANGUAGES,
  readLanguage,
  storeLanguage,
  titleOf,
  useText,
} from "./text.ts";
import { readTheme, storeTheme, type Theme, THEMES } from "./theme.ts";
import { loadView, type View } from "./views.ts";

/** The frame around all views: navigation, settings, and the view that the address names. */
export function App(props: { readonly first: View; readonly address: Address }): JSX.Element {
  const { first } = props;
  const [address, setAddress] = useState(props.address);
  // What the server rendered is in English.
  const [language, setLanguage] = useState<Language>("en");
  useEffect(() => setLanguage(readLanguage()), []);
  useEffect(() => onAddress(() => setAddress(readAddress(PAGE, window.location))), []);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <LanguageContext.Provider value={language}>
      <div onClick={follow}>
        <Bar
          current={address.view}
          language={language}
          onLanguage={(next) => {
            storeLanguage(next);
            setLanguage(next);
          }}
        />
        <CurrentView address={address} first={first} />
        <Footer />
      </div>
    </LanguageContext.Provider>
  );
}

/** Follows links to views without loading the page. */
function follow(event: MouseEvent): void {
  const target = ownTarget(event, PAGE);
  if (target === undefined) return;
  event.preventDefault();
  navigate(target);
  window.scrollTo(0, 0);
}

/** The view of the address; the last one stays while the next is loaded. */
function CurrentView({ address, first }: { address: Address; first: View }): JSX.Element {
  const text = useText("shell");
  const [shown, setShown] = useState<{ name: ViewName; View: View } | undefined>({
    name: address.view,
    View: first,
  });
  const [hasFailed, setFailed] = useState(false);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = titleOf(address.view, PAGE.name, text.language);
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    let isGone = false;
    loadView(address.view).then(
      (View) => {
        if (isGone) return;
        setFailed(false);
        setShown({ name: address.view, View });
        // Screen readers begin at the new view.
        main.current?.focus({ preventScroll: true });
      },
      () => {
        if (!isGone) setFailed(true);
      },
    );
    return () => {
      isGone = true;
    };
  }, [address.view, text.language]);
  const isThere = shown?.name === address.view;
  return (
    <main
      ref={main}
      id="view"
      class={`frame view-${address.view}`}
      tabIndex={-1}
      aria-busy={!isThere}
    >
      {hasFailed ? (
        <p role="alert">{text("failed")}</p>
      ) : shown !== undefined && isThere ? (
        <shown.View params={address.params} />
      ) : (
        <p class="hint">{text("loading")}</p>
      )}
    </main>
  );
}

function Bar(props: {
  current: ViewName;
  language: Language;
  onLanguage: (language: Language) => void;
}): JSX.Element {
  const text = useText("shell");
  return (
    <header class="bar">
      <div class="frame">
        <a class="brand" href={hrefOf(PAGE, "search")}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="3.5" />
            <path d="M4 4.5h8M4 8h5M4 11.5h7" />
          </svg>
          <span>{PAGE.name}</span>
        </a>
        <nav aria-label={text("views")}>
          {viewsOf(PAGE.service).map((view) => (
            <a
              key={view}
              href={hrefOf(PAGE, view)}
              aria-current={view === props.current ? "page" : undefined}
            >
              {text(view)}
            </a>
          ))}
        </nav>
        <Settings language={props.language} onLanguage={props.onLanguage} />
      </div>
    </header>
  );
}

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

function Settings(props: {
  language: Language;
  onLanguage: (language: Language) => void;
}): JSX.Element {
  const text = useText("shell");
  const [theme, setTheme] = useState<Theme>("system");
  useEffect(() => setTheme(readTheme()), []);
  const change = (next: Theme): void => {
    storeTheme(next);
    setTheme(next);
  };
  return (
    <div class="settings-bar" role="group" aria-label={text("settings")}>
      <select
        aria-label={text("theme")}
        value={theme}
        onChange={({ currentTarget }) => change(currentTarget.value as Theme)}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {text(each)}
          </option>
        ))}
      </select>
      <select
        aria-label={text("language")}
        value={props.language}
        onChange={({ currentTarget }) => props.onLanguage(currentTarget.value as Language)}
      >
        {LANGUAGES.map((each) => (
          <option key={each} value={each} lang={each}>
            {LANGUAGE_NAMES[each]}
          </option>
        ))}
      </select>
    </div>
  );
}

function Footer(): JSX.Element {
  const text = useText("shell");
  return (
    <footer class="frame">
      mementomap {PAGE.version}. {text(PAGE.service === "aggregator" ? "sent" : "private")}
    </footer>
  );
}
