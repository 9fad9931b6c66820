import { listen, type Listening, type RequestHandler } from "../../http/listen.ts";

/** Serves `/metrics` and `/health` on a port of their own, where one is named. */
export async function listenForMonitoring(
  { monitoring }: { readonly monitoring: RequestHandler },
  values: { readonly "metrics-port": number | undefined; readonly "metrics-host": string },
): Promise<Listening | undefined> {
  const port = values["metrics-port"];
  if (port === undefined) return undefined;
  return listen(monitoring, {
    port,
    host: values["metrics-host"],
    options: { port: "--metrics-port", host: "--metrics-host" },
  });
}

/** What a service writes to standard output when it is ready. */
export function listeningLine(
  { url }: { readonly url: string },
  monitoring: { readonly url: string } | undefined,
  isJson: boolean,
): string {
  return isJson ? `${JSON.stringify({ url, metrics: monitoring?.url })}\n` : `${url}\n`;
}
