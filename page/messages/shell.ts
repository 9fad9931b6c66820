import { messages } from "../text.ts";

/** The words of the frame around all views. */
export const SHELL = messages({
  en: {
    find: "Find",
    time: "Time",
    explore: "Explore",
    compare: "Compare",
    about: "About",
    views: "Views",
    settings: "Settings",
    theme: "Theme",
    system: "System",
    light: "Light",
    dark: "Dark",
    language: "Language",
    loading: "Loading…",
    failed: "This part could not be loaded. Reload the page to try again.",
    private: "Nothing you type here leaves this site.",
  },
  de: {
    find: "Finden",
    time: "Zeit",
    explore: "Erkunden",
    compare: "Vergleichen",
    about: "Über",
    views: "Ansichten",
    settings: "Einstellungen",
    theme: "Farben",
    system: "System",
    light: "Hell",
    dark: "Dunkel",
    language: "Sprache",
    loading: "Lädt…",
    failed: "Dieser Teil konnte nicht geladen werden. Laden Sie die Seite neu.",
    private: "Was Sie hier eingeben, bleibt auf dieser Website.",
  },
});
