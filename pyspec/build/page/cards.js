// Functions as pictures of their curves.

import { h, svg } from "./dom.js";

const SKETCHES = {
  PEAK: (x) => 1 / (1 + (6 * (x - 0.5)) ** 2),
  BACKGROUND: (x) => 0.25 + 0.5 * x,
  energy: (x) => 1 / (1 + Math.exp(14 * (x - 0.5))),
  time: (x) => (x < 0.25 ? 0 : Math.exp(-3 * (x - 0.25))),
};

function picture(item) {
  const sketch = SKETCHES[item.kind] ?? SKETCHES[item.where] ?? SKETCHES.energy;
  const values = item.picture ?? Array.from({ length: 48 }, (_, i) => sketch(i / 47));
  const points = values.map((value, i) => {
    const x = (100 * i) / (values.length - 1);
    return `${x.toFixed(1)},${(37 - 33 * value).toFixed(1)}`;
  });
  return svg(
    "svg",
    { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("polyline", { points: points.join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 1.8 }),
  );
}

// A button with the picture of a function; `take(item)` is called by a click.
export function card(item, take) {
  const title = `${item.name} = ${item.formula}`;
  return h("button", { type: "button", class: "card", title, onclick: () => take(item) }, picture(item), item.name);
}
