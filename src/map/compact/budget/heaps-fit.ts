/**
 * Heaps' law of an archive: a host of n keys has about c · n^β distinct children.
 *
 * A least-squares line through the logarithms, one point a host. Holds five sums.
 */
export class HeapsFit {
  /** Hosts that have children. */
  hosts = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #xy = 0;

  add(keys: number, children: number): void {
    const x = Math.log(keys);
    const y = Math.log(children);
    this.hosts++;
    this.#x += x;
    this.#y += y;
    this.#xx += x * x;
    this.#xy += x * y;
  }

  /** β, between 0 and 1; 1/2 where all hosts are of one size, so that there is nothing to fit. */
  get exponent(): number {
    const variance = this.hosts * this.#xx - this.#x * this.#x;
    if (!(variance > 1e-9 * this.hosts * this.#xx)) return 0.5;
    const slope = (this.hosts * this.#xy - this.#x * this.#y) / variance;
    return Math.min(1, Math.max(0, slope));
  }
}
