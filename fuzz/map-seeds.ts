const HEADERS =
  '!context ["https://git.io/mementomap"]\n!fields {"keys":["surt"],"values":["frequency"]}\n!id {"uri":"https://archive.example/"}\n!meta {"name":"A","type":"MementoMap"}\n';

/** Maps with every feature of the format, small. */
export const MAP_SEEDS: readonly string[] = [
  `${HEADERS}com,a)/ 5\ncom,a)/* 12/3\ncom,a)/b 2+\ncom,a,* 30~/4-\ncom,b)/c/* 0\norg,* 7\n`,
  '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ 2014 5\ncom,a)/ 2015:2016 2\ncom,a)/ : 7\ncom,a)/b 20140102030405 1/1\n',
  'com,a)/ 5 {"datetime":{"2014":3,"2015:":2}}\ncom,a)/b - {"x":[1,null]}\n',
  "com,a) 5\r\ncom,b)/%2A 3\r\n\r\norg,x:8080)/ 1\r\n",
  '\uFEFF!keys ["surt"]\n@meta {a: 1}\n* 100\ncom,a)/ "5"\n',
  "com,a)/ 1\ncom,a)/a 1\ncom,a)/a/b 1\ncom,a)/a/b/c 1\ncom,a)/a/b/d 1\ncom,a)/b 1\ncom,a,www)/ 1\ncom,b)/ 1\ncom,b)/x 1\ncom,c)/ 1\n",
];

export const MAP_WORDS: readonly string[] = [
  "com,a)/",
  "com,a,*",
  ")/*",
  " 5/3",
  " 0\n",
  "!fields ",
  '!meta {"type":"MementoMap"}\n',
  '!size {"bytes":10,"records":1}\n',
  "\n",
  "\r\n",
  " 2014:2016 ",
  '{"datetime":{"2014":0}}',
  '"',
  "%2A",
];
