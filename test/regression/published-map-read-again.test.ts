import { renameSync, writeFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { MementoMapError } from "../../src/errors.ts";
import { FileSource } from "../../src/files/input-file.ts";
import { EXAMPLE_MAP, serving } from "../support/serving.ts";

/** A publisher that was out of open files when its map changed never took the new one. */
it("takes a new map that could not be opened at first, though its file is the same", async () => {
  const served = await serving(EXAMPLE_MAP);
  const newer = `${EXAMPLE_MAP}uk,co,bbc)/news 5\n`;
  writeFileSync(`${served.path}.new`, newer);
  renameSync(`${served.path}.new`, served.path);
  const shown = async (): Promise<string> =>
    (await fetch(`${served.url}/.well-known/mementomap`)).text();
  const open = vi.spyOn(FileSource, "open");
  open.mockRejectedValue(new MementoMapError("MM_IO", "EMFILE: too many open files"));
  await served.publisher.reload();
  expect(await shown()).toBe(EXAMPLE_MAP);
  open.mockRestore();
  await served.publisher.reload();
  expect(await shown()).toBe(newer);
});
