/** Shows a count for people, with thousands set apart: `3,900,000`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Shows how many there are of something: `1 page`, `1,200 pages`, `2 searches`. */
export function formatAmount(count: number, one: string, several: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}
