import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { documented } from "./documented.ts";
import { freePort, startServer } from "./programs.ts";

/** Starts nginx with a server block of the guides, its ports and folder replaced. */
export function startNginx(
  block: string,
  replaced: Readonly<Record<string, string>>,
): Promise<string> {
  return startNginxWith(documented(`# nginx: ${block}\n`), replaced);
}

/** Starts nginx with a server block that listens on 8080. */
export async function startNginxWith(
  block: string,
  replaced: Readonly<Record<string, string>>,
): Promise<string> {
  const port = await freePort();
  const folder = scratchDir();
  mkdirSync(join(folder, "logs"));
  let server = block.replaceAll("listen 8080", `listen 127.0.0.1:${port}`);
  for (const [text, other] of Object.entries(replaced)) server = server.replaceAll(text, other);
  const config = `
daemon off;
user root;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/logs/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  types { text/html html; }
  ${server}
}
`;
  writeFileSync(join(folder, "nginx.conf"), config);
  const url = `http://127.0.0.1:${port}`;
  const args = ["-p", folder, "-c", join(folder, "nginx.conf")];
  const nginx = await startServer("nginx", args, folder, url);
  onTestFinished(() => nginx.stop());
  return url;
}
