import { messages } from "../text.ts";

/** The words for maps that readers open. */
export const MAPS = messages({
  en: {
    open: "Open a map file…",
    drop: "Drop a map here",
    dropHint:
      "A MementoMap as text, gzip, zstd or packed. It is opened in your browser and is not uploaded.",
    opening: "Opening {name}: {percent}",
    failed: "{name} could not be opened: {reason}",
    own: "{name} (opened here)",
  },
  de: {
    open: "Kartendatei öffnen…",
    drop: "Karte hier ablegen",
    dropHint:
      "Eine MementoMap als Text, gzip, zstd oder gepackt. Sie wird in Ihrem Browser geöffnet und nicht hochgeladen.",
    opening: "{name} wird geöffnet: {percent}",
    failed: "{name} konnte nicht geöffnet werden: {reason}",
    own: "{name} (hier geöffnet)",
  },
});
