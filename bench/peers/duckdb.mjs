// DuckDB doing what generate does, in SQL: read, filter, key, group, order, write.
//
//   node bench/peers/duckdb.mjs MAP INDEX...
//
// Needs @duckdb/node-api, which is not among the dependencies: npm install --no-save @duckdb/node-api
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , target, ...inputs] = process.argv;
const { DuckDBInstance } = await import(
  process.env.MEMENTOMAP_DUCKDB === undefined
    ? "@duckdb/node-api"
    : pathToFileURL(createRequire(process.env.MEMENTOMAP_DUCKDB).resolve("@duckdb/node-api")).href
);
const text = (value) => `'${value.replaceAll("'", "''")}'`;
const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
await connection.run("SET threads = 2");
await connection.run("SET memory_limit = '512MB'");
await connection.run(`SET temp_directory = ${text(`${target}.tmp`)}`);
await connection.run("SET preserve_insertion_order = false");
await connection.run(`
  COPY (
    SELECT key, count(*) AS captures
    FROM (
      -- Up to the query; slashes at the end go, but for the root's.
      SELECT regexp_replace(regexp_extract(line, '^([^ ?]*)', 1), '([^)])/+$', '\\1') AS key
      FROM read_csv([${inputs.map(text).join(", ")}],
        columns = {'line': 'VARCHAR'}, auto_detect = false, header = false,
        delim = '\\x01', quote = '', escape = '', ignore_errors = true)
      WHERE line LIKE '%"status": "200"%'
    )
    GROUP BY key
    ORDER BY key
  ) TO ${text(target)} (FORMAT csv, DELIMITER ' ', QUOTE '', ESCAPE '', HEADER false)
`);
process.exit(0);
