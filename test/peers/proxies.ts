import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";
import { startNginxWith } from "./nginx.ts";
import { freePort, program, startServer } from "./programs.ts";

/** A web server in front of an aggregator, set up as a file of `deploy/` has it. */
export interface ProxyServer {
  readonly name: string;
  /** The Debian package that has it. */
  readonly package: string;
  readonly path: string | undefined;
  /** Starts it before the aggregator of a port; gives its address. */
  readonly start: (port: string) => Promise<string>;
}

const deployed = (file: string): string => readFileSync(`${ROOT}deploy/${file}`, "utf8");

async function started(
  command: string,
  args: (folder: string) => readonly string[],
  config: (port: number, folder: string) => string,
): Promise<string> {
  const port = await freePort();
  const folder = scratchDir();
  mkdirSync(join(folder, "logs"));
  writeFileSync(join(folder, "config"), config(port, folder));
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer(command, args(folder), folder, url);
  onTestFinished(() => server.stop());
  return url;
}

/** Where Debian has the modules of Apache; others, as set in the environment. */
const MODULES = process.env["APACHE_MODULES"] ?? "/usr/lib/apache2/modules";

function apacheConfig(port: number, folder: string, service: string): string {
  const modules = ["mpm_event", "authz_core", "proxy", "proxy_http", "headers"].map(
    (name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`,
  );
  const host = deployed("apache.conf")
    .replace("*:80>", `127.0.0.1:${port}>`)
    .replaceAll(":1208/", `:${service}/`);
  return `${modules.join("\n")}
ServerRoot ${folder}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/logs/error.log
DefaultRuntimeDir ${folder}
User nobody
Group nogroup
Listen 127.0.0.1:${port}
${host}`;
}

export const PROXIES: readonly ProxyServer[] = [
  {
    name: "nginx",
    package: "nginx",
    path: program("nginx"),
    start: (service) =>
      startNginxWith(deployed("nginx.conf").replaceAll("listen 80", "listen 8080"), {
        ":1208$": `:${service}$`,
        "server_name aggregator.example.org":
          "server_name aggregator.example.org localhost 127.0.0.1",
      }),
  },
  {
    name: "Apache",
    package: "apache2",
    path: program("apache2") ?? program("httpd"),
    start: (service) =>
      started(
        program("apache2") ?? "httpd",
        (folder) => ["-X", "-f", join(folder, "config")],
        (port, folder) => apacheConfig(port, folder, service),
      ),
  },
  {
    name: "Caddy",
    package: "caddy",
    path: program("caddy"),
    start: (service) =>
      started(
        "env",
        (folder) =>
          [
            `XDG_CONFIG_HOME=${folder} XDG_DATA_HOME=${folder}`,
            `caddy run --adapter caddyfile --config ${folder}/config`,
          ].flatMap((words) => words.split(" ")),
        (port) =>
          `{\n\tadmin off\n\tauto_https off\n}\n${deployed("Caddyfile")
            .replace("aggregator.example.org {", `http://:${port} {\n\tbind 127.0.0.1`)
            .replace(":1208", `:${service}`)}`,
      ),
  },
];
