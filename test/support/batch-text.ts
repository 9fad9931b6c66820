/** Collects all lines. */
export async function rowTexts(lines: AsyncIterable<string>): Promise<string[]> {
  const texts: string[] = [];
  for await (const line of lines) texts.push(line);
  return texts;
}
