import { startHostileArchives } from "./hostile-archives.ts";

/*
 * A program that runs all archives that misbehave: what they cost must not slow down the service that
 * is tested. Prints their addresses, and ends with its parent process.
 */
const archives = await startHostileArchives();
process.on("disconnect", () => process.exit(0));
process.send?.(archives.map(({ archive }) => archive));
