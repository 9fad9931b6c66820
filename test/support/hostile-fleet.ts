import { startHostileArchives } from "./hostile-archives.ts";

/*
 * A program that runs all archives that misbehave: what they cost must not slow down the service that
 * is tested. Tells their addresses, and ends with whoever started it.
 */
const archives = await startHostileArchives();
process.on("disconnect", () => process.exit(0));
process.send?.(archives.map(({ archive }) => archive));
