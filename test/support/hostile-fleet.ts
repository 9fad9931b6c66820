import { startHostileArchives } from "./hostile-archives.ts";

/*
 * Runs all hostile archives in a separate process, so that their load does not slow down the service under
 * test. Prints their addresses, and exits with its parent process.
 */
const archives = await startHostileArchives();
process.on("disconnect", () => process.exit(0));
process.send?.(archives.map(({ archive }) => archive));
