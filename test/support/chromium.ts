import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The Chromium of this machine, or undefined where there is none; `CHROMIUM` names another. */
export const CHROMIUM: string | undefined = [process.env["CHROMIUM"] ?? "", ...PLACES].find(
  (path) => path !== "" && existsSync(path),
);
