import { mementoTimes } from "./archive-model.ts";

/* The answers of a model archive as bytes of HTTP. */

export const NOT_FOUND: Buffer = plainAnswer("404 Not Found", "no mementos\n");
export const UNAVAILABLE: Buffer = plainAnswer("503 Service Unavailable", "try again later\n");

function plainAnswer(status: string, body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** The TimeMap of an original in link-format, as Wayback machines write it. */
export function timeMapAnswer(base: string, id: string, original: string): Buffer {
  const times = mementoTimes(id, original);
  const last = times.length - 1;
  const mementos = times.map((time, i) => {
    const rel = relation(i === 0, i === last);
    return `<${base}/web/${time}/${original}>; rel="${rel}"; datetime="${httpDate(time)}"`;
  });
  const links = [
    `<${original}>; rel="original"`,
    `<${base}/timemap/${original}>; rel="self"; type="application/link-format"`,
    `<${base}/timegate/${original}>; rel="timegate"`,
    ...mementos,
  ];
  const body = `${links.join(",\n")}\n`;
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/link-format\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function relation(isFirst: boolean, isLast: boolean): string {
  return `${isFirst ? "first " : ""}${isLast ? "last " : ""}memento`;
}

/** A time of fourteen digits as HTTP writes it. */
function httpDate(time: string): string {
  const [, year, month, day, hour, minute, second] =
    /^(....)(..)(..)(..)(..)(..)$/.exec(time) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`).toUTCString();
}
