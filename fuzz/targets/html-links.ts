import { htmlLinks } from "../../src/publish/fetch/discover.ts";
import { must, utf8 } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "no more links than there are tags",
  seeds: () => [
    '<!doctype html><html><head><base href="/x/"><link rel="mementomap" href="/map.ukvs"></head>',
    "<LINK REL='a MementoMap b' HREF=map&amp;x=1 ><!-- <link rel=mementomap href=no> --><script>'<link>'</script>",
    '<svg><title><link rel=mementomap href="&#x2F;m&#47;&lt;"></title></svg><link/rel=mementomap/href=a>',
    "<textarea></textarea ><style>a{}</style><link rel=mementomap><base><link href=\"x\" rel='mementomap'",
  ],
  words: [
    "<link ",
    "rel=mementomap ",
    'href="',
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "<base ",
    ">",
    "&#x",
    ";",
  ],
  run(input) {
    const html = utf8(input);
    const { hrefs } = htmlLinks(html, "mementomap");
    must(hrefs.length <= html.split("<").length - 1, "a tag for each", hrefs);
  },
};
