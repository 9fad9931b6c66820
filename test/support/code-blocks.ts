import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A fenced block of a Markdown file, and the block directly after it if that has no language. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  readonly output: string | undefined;
  readonly line: number;
}

/** The root of the checkout. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** All fenced blocks of a document, which is given by its path in the repository. */
export function codeBlocks(path: string): CodeBlock[] {
  return codeBlocksOf(readFileSync(`${ROOT}${path}`, "utf8"));
}

export function codeBlocksOf(document: string): CodeBlock[] {
  const fences = [...document.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    line: document.slice(0, match.index).split("\n").length,
  }));
  return fences.map((fence, i) => {
    const next = fences[i + 1];
    return { ...fence, output: next?.language === "" ? next.text : undefined };
  });
}
