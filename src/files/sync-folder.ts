import { open } from "node:fs/promises";

/** Makes a rename last through a power cut. Windows cannot open folders, and needs no such call. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
