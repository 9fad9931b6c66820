/**
 * Orders the parameters of a query by name, then by value; a name alone comes before the same name
 * with an empty value. Expects escaped ASCII, whose code unit order is byte order.
 */
export function sortQuery(query: string): string {
  return query.includes("&") ? query.split("&").sort(compareParameters).join("&") : query;
}

function compareParameters(a: string, b: string): number {
  const endA = nameEnd(a);
  const endB = nameEnd(b);
  return (
    compareText(a.slice(0, endA), b.slice(0, endB)) || compareText(a.slice(endA), b.slice(endB))
  );
}

function nameEnd(parameter: string): number {
  const equals = parameter.indexOf("=");
  return equals === -1 ? parameter.length : equals;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
