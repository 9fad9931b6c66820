import type { ViewName } from "../src/page/page-data.ts";
import de from "./messages/de.json";
import en from "./messages/en.json";
import { type Language, messages } from "./text.ts";

export const ABOUT = messages({ en: en.about, de: de.about });
export const COMPARE = messages({ en: en.compare, de: de.compare });
export const EXPLORE = messages({ en: en.explore, de: de.explore });
export const FIND = messages({ en: en.find, de: de.find });
export const MAPS = messages({ en: en.maps, de: de.maps });
export const PARTS = messages({ en: en.parts, de: de.parts });
export const SHELL = messages({ en: en.shell, de: de.shell });
export const TIME = messages({ en: en.time, de: de.time });

/** The title of a view, as windows and bookmarks have it. */
export function titleOf(view: ViewName, site: string, language: Language = "en"): string {
  return `${SHELL[language][view]} · ${site}`;
}
