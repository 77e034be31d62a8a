// The colours of the plots of pyspec.

export const LINES = [
  "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6bb1", "#a6761d", "#777777",
];
export const FIT = "#d55e00";

const VIRIDIS =
  "440154 481467 482576 453781 404688 39558c 33638d 2d718e 287d8e 238a8d 1f968b 20a386 29af7f " +
  "3dbc74 56c667 75d054 95d840 bade28 dde318 fde725";
const DIVERGING =
  "053061 1c5c9f 3783bb 6bacd1 a7d0e4 d7e8f1 f7f6f6 fcdecd f6b799 e58267 cb4942 a91529 67001f";

function table(stops) {
  const points = stops.split(" ").map((hex) => parseInt(hex, 16));
  const colours = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (points.length - 1);
    const k = Math.min(Math.floor(at), points.length - 2);
    const mix = (shift) => {
      const [a, b] = [(points[k] >> shift) & 255, (points[k + 1] >> shift) & 255];
      return Math.round(a + (b - a) * (at - k));
    };
    colours[i] = (255 << 24) | (mix(0) << 16) | (mix(8) << 8) | mix(16);
  }
  return colours;
}

export const ONE_SIDED = table(VIRIDIS);
export const TWO_SIDED = table(DIVERGING);

// The colour of each component, by its place among them.
export function colourOf(components, name) {
  const at = components.findIndex((component) => component.name === name);
  return LINES[(at < 0 ? 7 : at) % LINES.length];
}

// The range of nearly all values: a spike does not wash the picture out.
export function rangeOf(values) {
  const step = Math.max(1, Math.floor(values.length / 20000));
  const some = [];
  for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) some.push(values[i]);
  if (!some.length) return [0, 1];
  const sorted = Float32Array.from(some).sort();
  const low = sorted[Math.floor(0.001 * (sorted.length - 1))];
  const high = sorted[Math.ceil(0.999 * (sorted.length - 1))];
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
}
