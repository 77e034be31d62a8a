// Components and laws to choose from, each with a picture of its curve and its formula.

import { h, svg } from "./dom.js";
import { closeMenu, showMenu } from "./menu.js";

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

// Opens the chooser below `anchor`; `take(item)` gets what is chosen.
export function choose(anchor, library, where, take) {
  const search = h("input", { type: "text", placeholder: "find…", "aria-label": "find a function" });
  const groups = h("div");
  const fill = () => {
    const wanted = search.value.toLowerCase();
    const has = (item) => `${item.name} ${item.formula}`.toLowerCase().includes(wanted);
    groups.replaceChildren(
      ...library.flatMap(({ group, items }) => {
        const some = items.filter((item) => item.where === where && has(item));
        return some.length ? [h("h4", {}, group), h("div", { class: "cards" }, ...some.map(card))] : [];
      }),
    );
  };
  const card = (item) => {
    const act = () => {
      closeMenu();
      take(item);
    };
    const title = `${item.name} = ${item.formula}`;
    return h("button", { type: "button", class: "card", title, onclick: act }, picture(item), item.name);
  };
  search.addEventListener("input", fill);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // else the button that gets the focus back is pressed
    groups.querySelector("button")?.click();
  });
  fill();
  showMenu(anchor, where === "time" ? "Add a law" : "Add a component", [search, groups]);
}
