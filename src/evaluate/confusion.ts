/** How a set of answers compares with what is held. */
export class Confusion {
  truePositives = 0;
  falsePositives = 0;
  trueNegatives = 0;
  falseNegatives = 0;

  add(isHeld: boolean, saysPresent: boolean): void {
    if (isHeld) {
      if (saysPresent) this.truePositives++;
      else this.falseNegatives++;
    } else if (saysPresent) this.falsePositives++;
    else this.trueNegatives++;
  }

  get total(): number {
    return this.truePositives + this.falsePositives + this.trueNegatives + this.falseNegatives;
  }

  /** The share of right answers; 1 when nothing was asked. */
  get accuracy(): number {
    const { total } = this;
    return total === 0 ? 1 : (this.truePositives + this.trueNegatives) / total;
  }
}
