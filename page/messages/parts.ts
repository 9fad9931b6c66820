import { messages } from "../text.ts";

/** The words of what several views show. */
export const PARTS = messages({
  en: {
    held: "Held",
    possibly: "Possibly held",
    "not-held": "Not held",
    "not-known": "Not known",
    readable: "reads",
    mixed: "“{label}” mixes letters of {scripts}: it may imitate another name.",
  },
  de: {
    held: "Vorhanden",
    possibly: "Vielleicht vorhanden",
    "not-held": "Nicht vorhanden",
    "not-known": "Nicht bekannt",
    readable: "lesbar",
    mixed: "„{label}“ mischt Buchstaben aus {scripts}: Es könnte einen anderen Namen nachahmen.",
  },
});
