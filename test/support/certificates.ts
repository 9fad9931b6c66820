import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate with its key, both as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority. */
export interface Authority extends Certificate {
  /** Issues a certificate for hosts: names or IPv4 addresses. */
  issue(
    hosts: readonly string[],
    options?: { readonly from?: Date; readonly until?: Date },
  ): Certificate;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = "06082a8648ce3d040302";
const COMMON_NAME = "0603550403";
const BASIC_CONSTRAINTS = "0603551d13";
const ALTERNATIVE_NAME = "0603551d11";

/** An authority for one test, trusted only where configured. */
export function certificateAuthority(name: string): Authority {
  const key = newKey();
  const isAuthority = der(0x30, hex(BASIC_CONSTRAINTS), hex("0101ff"), octets(hex("30030101ff")));
  const cert = certificate({
    subject: name,
    key,
    issuer: name,
    signer: key,
    extension: isAuthority,
  });
  return {
    cert,
    key: pem(key),
    issue(hosts, { from, until } = {}) {
      const own = newKey();
      const names = hosts.map((host) =>
        isIP(host) === 4
          ? der(0x87, Buffer.from(host.split(".").map(Number)))
          : der(0x82, Buffer.from(host)),
      );
      const extension = der(0x30, hex(ALTERNATIVE_NAME), octets(der(0x30, ...names)));
      const [subject = "nobody"] = hosts;
      return {
        cert: certificate({ subject, key: own, issuer: name, signer: key, extension, from, until }),
        key: pem(own),
      };
    },
  };
}

function certificate(parts: {
  readonly subject: string;
  readonly key: KeyObject;
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly extension: Buffer;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
}): string {
  const { from = new Date(Date.now() - DAY_MS), until = new Date(Date.now() + DAY_MS) } = parts;
  const algorithm = der(0x30, hex(ECDSA_WITH_SHA256));
  const body = der(
    0x30,
    hex("a003020102"), // version 3
    der(0x02, Buffer.from([1, ...Buffer.from(String(Math.random()).slice(2, 9))])),
    algorithm,
    nameOf(parts.issuer),
    der(0x30, time(from), time(until)),
    nameOf(parts.subject),
    createPublicKey(parts.key).export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, parts.extension)),
  );
  const signature = sign("sha256", body, { key: parts.signer, dsaEncoding: "der" });
  const whole = der(0x30, body, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

function pem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function nameOf(text: string): Buffer {
  return der(0x30, der(0x31, der(0x30, hex(COMMON_NAME), der(0x0c, Buffer.from(text)))));
}

/** `YYMMDDhhmmssZ` */
function time(date: Date): Buffer {
  return der(0x17, Buffer.from(`${date.toISOString().replaceAll(/\D/g, "").slice(2, 14)}Z`));
}

function octets(bytes: Buffer): Buffer {
  return der(0x04, bytes);
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, "hex");
}

/** An ASN.1 value: tag, length and content. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
