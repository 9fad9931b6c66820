// The least that an aggregator in Node.js does: it asks every archive with undici, and hands on the bodies of those that
// have something, as they are. It neither parses, merges, keeps, limits nor counts anything. What it takes
// is a bound for what ours can reach with the same parts. bare-aggregator.mjs LIST PORT WORKERS
import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Pool } from "undici";

const PREFIX = "/timemap/link/";
const [list, port, workers] = process.argv.slice(2);

if (cluster.isPrimary) {
  cluster.setupPrimary({ execArgv: ["--max-semi-space-size=64"] });
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork();
} else {
  const archives = JSON.parse(readFileSync(list, "utf8")).map(({ timemap }) => {
    const { origin, pathname } = new URL(timemap);
    return { pool: new Pool(origin, { connections: 256 }), path: pathname };
  });
  createServer((request, response) => {
    if (!request.url.startsWith(PREFIX)) {
      response.end("bare");
      return;
    }
    const uri = encodeURI(decodeURI(request.url.slice(PREFIX.length)));
    const bodies = [];
    let left = archives.length;
    const settle = () => {
      left -= 1;
      if (left > 0) return;
      const body = Buffer.concat(bodies);
      response.writeHead(body.length > 0 ? 200 : 404, { "content-length": body.length });
      response.end(body);
    };
    for (const { pool, path } of archives) {
      let isFound = false;
      pool.dispatch(
        { path: path + uri, method: "GET" },
        {
          onConnect() {},
          onHeaders(status) {
            isFound = status === 200;
            return true;
          },
          onData(chunk) {
            if (isFound) bodies.push(chunk);
            return true;
          },
          onComplete: settle,
          onError: settle,
        },
      );
    }
  }).listen(Number(port), "127.0.0.1");
}
