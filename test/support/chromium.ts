import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of Chromium, or undefined if it is not installed; `CHROMIUM` overrides it. */
export const CHROMIUM: string | undefined = [process.env["CHROMIUM"] ?? "", ...PLACES].find(
  (path) => path !== "" && existsSync(path),
);
