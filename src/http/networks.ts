import { BlockList, isIP } from "node:net";

/** Networks of IPv4 and IPv6, each written as `192.0.2.0/24` or as a single address. */
export class Networks {
  readonly #list = new BlockList();

  constructor(networks: readonly string[] = []) {
    for (const network of networks) this.add(network);
  }

  /** Adds a network; returns false if the text is not a valid one. */
  add(text: string): boolean {
    const [, address = "", digits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
    const bits = isIP(address) === 6 ? 128 : 32;
    const prefix = digits === undefined ? bits : Number(digits);
    if (isIP(address) === 0 || prefix > bits) return false;
    this.#list.addSubnet(address, prefix, familyOf(address));
    return true;
  }

  /** Whether an address is in one of them; false if the text is not an address. */
  has(address: string): boolean {
    // Without the zone identifier.
    const [bare = ""] = address.split("%", 1);
    return isIP(bare) !== 0 && this.#list.check(bare, familyOf(bare));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
