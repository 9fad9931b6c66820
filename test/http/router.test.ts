import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../src/http/openapi.ts";
import { type Route, Router } from "../../src/http/router.ts";

const row = (method: "GET" | "POST", path: string): Route<object> => ({
  method,
  path,
  name: "other",
  summary: path,
  replies: { 200: { type: "text/plain" } },
  answer: () => ({ status: 200, headers: {}, body: path }),
});

const ROUTES = [
  row("GET", "/"),
  row("GET", "/maps/{id}"),
  row("GET", "/lookup"),
  row("POST", "/lookup"),
  row("GET", "/timemap/{format}/{*uri}"),
  { ...row("GET", "/.well-known/x"), isFixed: true as const },
];
const ROUTER = new Router(ROUTES);

describe("Router", () => {
  it("passes the raw rest of a target on as it was sent", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (uri) => {
        expect(ROUTER.match(`/timemap/link/${uri}`, "")?.params).toEqual({ format: "link", uri });
      }),
    );
    const uri = "http://a//b/../%2F?q=1&r=%zz#f";
    expect(ROUTER.match(`/p/timemap/json/${uri}`, "/p")?.params).toEqual({ format: "json", uri });
  });

  it("answers HEAD as GET, and names the methods of a path", () => {
    const match = ROUTER.match("/lookup", "");
    expect(match?.allow).toBe("GET, HEAD, POST, OPTIONS");
    expect(match?.routes.get("HEAD")).toBe(match?.routes.get("GET"));
    expect(match?.routes.get("PUT")).toBeUndefined();
    expect(ROUTER.match("/maps/a", "")?.allow).toBe("GET, HEAD, OPTIONS");
  });

  it.each([
    ["/maps/", ""],
    ["/maps/a/b", ""],
    ["/lookup/", ""],
    ["/xlookup", ""],
    ["/lookup", "/p"],
    ["/p/.well-known/x", "/p"],
    ["/Xwell-known/x", ""],
  ])("does not match %s below %j", (target, prefix) => {
    expect(ROUTER.match(target, prefix)).toBeUndefined();
  });

  it.each([
    ["/p", "/p", "/"],
    ["/p/", "/p", "/"],
    ["/p/maps/a.b", "/p", "/maps/{id}"],
    ["/.well-known/x", "/p", "/.well-known/x"],
  ])("matches %s below %j", (target, prefix, path) => {
    expect(ROUTER.match(target, prefix)?.routes.get("GET")?.path).toBe(path);
  });
});

describe("openApiDocument", () => {
  it("has every route below the prefix, with the parameters of its path", () => {
    const options = { title: "t", version: "1", description: "d", prefix: "/p", schemas: {} };
    const document = openApiDocument(ROUTES, options) as { paths: Record<string, object> };
    expect(Object.keys(document.paths)).toEqual([
      "/p/",
      "/p/maps/{id}",
      "/p/lookup",
      "/p/timemap/{format}/{uri}",
      "/.well-known/x",
    ]);
    expect(Object.keys(document.paths["/p/lookup"] ?? {})).toEqual(["get", "post"]);
    expect(document.paths["/p/timemap/{format}/{uri}"]).toMatchObject({
      get: {
        parameters: [
          { name: "format", in: "path" },
          { name: "uri", allowReserved: true },
        ],
      },
    });
  });
});
