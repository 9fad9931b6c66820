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

/** The application shell: navigation, settings, and the current view. */
export function App(props: { readonly first: View; readonly address: Address }): JSX.Element {
  const [address, setAddress] = useState(props.address);
  // The server renders in English.
  const [language, setLanguage] = useState<Language>("en");
  useEffect(() => {
    setLanguage(readLanguage());
    return onAddress(() => setAddress(readAddress(PAGE, window.location)));
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = titleOf(address.view, PAGE.name, language);
  }, [language, address.view]);
  return (
    <LanguageContext.Provider value={language}>
      <div onClick={follow}>
        <Bar current={address.view} onLanguage={setLanguage} />
        <CurrentView address={address} first={props.first} />
        <Footer />
      </div>
    </LanguageContext.Provider>
  );
}

/** Handles links to views without loading the page. */
function follow(event: MouseEvent): void {
  const target = ownTarget(event, PAGE);
  if (target === undefined) return;
  event.preventDefault();
  navigate(target);
  window.scrollTo(0, 0);
}

/** The current view, once its script is loaded. */
function CurrentView({ address, first }: { address: Address; first: View }): JSX.Element {
  const text = useText("shell");
  const { view, params } = address;
  const [loaded, setLoaded] = useState({ view, View: first });
  const [hasFailed, setFailed] = useState(false);
  const main = useRef<HTMLElement>(null);
  const isThere = loaded.view === view;
  useEffect(() => {
    if (isThere) return undefined;
    let isGone = false;
    setFailed(false);
    loadView(view).then(
      (View) => {
        if (isGone) return;
        setLoaded({ view, View });
        // Move screen readers to the new view.
        main.current?.focus({ preventScroll: true });
      },
      () => {
        if (!isGone) setFailed(true);
      },
    );
    return () => {
      isGone = true;
    };
  }, [view]);
  return (
    <main ref={main} id="view" class={`frame view-${view}`} tabIndex={-1} aria-busy={!isThere}>
      {isThere ? (
        <loaded.View params={params} />
      ) : hasFailed ? (
        <p role="alert">{text("failed")}</p>
      ) : (
        <p class="hint">{text("loading")}</p>
      )}
    </main>
  );
}

function Bar(props: {
  readonly current: ViewName;
  readonly onLanguage: (language: Language) => void;
}): JSX.Element {
  const { current, onLanguage } = props;
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
              aria-current={view === current ? "page" : undefined}
            >
              {text(view)}
            </a>
          ))}
        </nav>
        <Settings onLanguage={onLanguage} />
      </div>
    </header>
  );
}

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

function Settings({ onLanguage }: { onLanguage: (language: Language) => void }): JSX.Element {
  const text = useText("shell");
  const [theme, setTheme] = useState<Theme>("system");
  useEffect(() => setTheme(readTheme()), []);
  const changeTheme = (next: Theme): void => {
    storeTheme(next);
    setTheme(next);
  };
  const changeLanguage = (next: Language): void => {
    storeLanguage(next);
    onLanguage(next);
  };
  return (
    <div class="settings-bar" role="group" aria-label={text("settings")}>
      <select
        aria-label={text("theme")}
        value={theme}
        onChange={({ currentTarget }) => changeTheme(currentTarget.value as Theme)}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {text(each)}
          </option>
        ))}
      </select>
      <select
        aria-label={text("language")}
        value={text.language}
        onChange={({ currentTarget }) => changeLanguage(currentTarget.value as Language)}
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
