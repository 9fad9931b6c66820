import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "cdx",
  seeds: () => [
    " CDX N b a m s k r M S V g\ncom,a)/ 20140101000000 http://a.com/ text/html 200 SHA - - 123 456 a.warc.gz\n",
    "com,a)/b 20140101000000 http://a.com/b warc/revisit - SHA 12 34 a.warc.gz\ncom,a)/b 2015 http://a.com/b text/html 200 SHA 12 34 a.warc.gz\n",
    " CDX A b e a m s c k r V v D d g M n\na.com/ 20050101000000 1.2.3.4 http://a.com/ text/html 200 - - - 1 2 3 4 f - 5\n",
    "dns:a.com 20140101000000 dns:a.com text/dns - SHA - - 1 2 f\ncom,a)/ 20140101000000 http://a.com/ text/html 200 SHA - - 1 2 f\n",
    " CDX b a\n2014 http://a.com/é\r\n",
  ],
  words: [
    " CDX ",
    " N b a m s k r M S V g",
    "-",
    "warc/revisit",
    "com,a)/",
    "http://a.com/",
    "200",
  ],
});
