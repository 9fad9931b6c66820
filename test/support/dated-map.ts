/** A map of two hosts, with the years of their captures. */
export const DATED_MAP = `!fields {"keys":["surt","datetime"],"values":["frequency"]}
!meta {"name":"Dated"}
org,a)/ 1999 3
org,a)/news 2004 2
org,b)/ 2012 5
`;
