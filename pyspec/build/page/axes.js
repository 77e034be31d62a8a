// The two axes as the plots need them: rising, with the way in which the data run.

export class Axes {
  constructor() {
    this.energy = new Float64Array(0);
    this.time = new Float64Array(0);
    this.isReversed = { energy: false, time: false };
  }

  take(frame) {
    for (const name of ["energy", "time"]) {
      const values = frame[name] ?? new Float64Array(0);
      const isReversed = values.length > 1 && values[0] > values[values.length - 1];
      this.isReversed[name] = isReversed;
      this[name] = isReversed ? values.slice().reverse() : values;
    }
  }

  // Values along an axis, in rising order of it.
  rising(name, values) {
    return this.isReversed[name] ? values.slice().reverse() : values;
  }

  // The nearest point of the rising axis.
  nearest(name, value) {
    const axis = this[name];
    let [low, high] = [0, axis.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (axis[middle] > value) high = middle;
      else low = middle;
    }
    return high > low && Math.abs(axis[high] - value) < Math.abs(axis[low] - value) ? high : low;
  }

  // The number of a point in the data, from that along the rising axis, and back.
  index(name, at) {
    return this.isReversed[name] ? this[name].length - 1 - at : at;
  }

  // Whether the steps of an axis differ by orders of magnitude.
  isUneven(name) {
    const axis = this[name];
    let [least, most] = [Infinity, 0];
    for (let i = 1; i < axis.length; i++) {
      least = Math.min(least, axis[i] - axis[i - 1]);
      most = Math.max(most, axis[i] - axis[i - 1]);
    }
    return most > 100 * least && least > 0;
  }

  ends(name) {
    const axis = this[name];
    if (!axis.length) return [0, 1];
    const [low, high] = [axis[0], axis[axis.length - 1]];
    return high > low ? [low, high] : [low - 0.5, high + 0.5];
  }
}
