// Kinetic schemes as boxes and arrows: a box for each state, an arrow for each step at its rate.

import { h, svg, digits } from "./dom.js";
import { colourOf } from "./colours.js";

const [WIDTH, HEIGHT, ACROSS, DOWN] = [86, 34, 168, 74];

export class Schemes {
  // A click on a rate leads to its row in the table: `lead(name)`.
  constructor(link, lead) {
    Object.assign(this, { link, lead });
    this.element = h("div", { class: "schemes", hidden: true });
    link.on(["schemes", "parameters", "components"], () => this.draw());
  }

  draw() {
    const { schemes = [] } = this.link.state;
    this.element.hidden = !schemes.length;
    if (!schemes.length || this.element.closest(".page")?.hidden) return;
    this.element.replaceChildren(...schemes.map((scheme) => this.picture(scheme)));
  }

  picture({ name, states, steps }) {
    const rows = new Map((this.link.state.parameters ?? []).map((row) => [row.name, row]));
    const { at, width, height } = layout(states, steps);
    const parts = [heads()];
    const drawn = new Map(); // how many arrows lead from one state to another already
    for (const step of steps) parts.push(...this.step(step, at, rows, drawn));
    for (const state of states) parts.push(...this.state(state, at.get(state.name)));
    const label = `Kinetic scheme ${name}`;
    return h("figure", {}, h("figcaption", {}, name), svg("svg", { width, height, role: "group", "aria-label": label }, ...parts));
  }

  state({ name, start, component }, { x, y }) {
    const components = this.link.state.components ?? [];
    const colour = component ? colourOf(components, component) : "var(--muted)";
    const parts = [
      svg("rect", { class: "box", x, y, width: WIDTH, height: HEIGHT, rx: 6 }),
      svg("rect", { x, y, width: 5, height: HEIGHT, rx: 2, fill: colour }),
      svg("text", { x: x + WIDTH / 2, y: y + HEIGHT / 2 + 4, "text-anchor": "middle", "font-weight": 600 }, name),
    ];
    if (start) parts.push(svg("text", { class: "small", x: x + WIDTH - 5, y: y + 11, "text-anchor": "end" }, start));
    return parts;
  }

  step({ from, to, rate }, at, rows, drawn) {
    const places = from.map((name) => at.get(name));
    const ends = to.map((name) => at.get(name));
    const key = `${from} ${to}`;
    const count = drawn.get(key) ?? 0;
    drawn.set(key, count + 1);
    const first = places[0];
    const begin = { x: first.x + WIDTH, y: first.y + HEIGHT / 2 };
    let [end, bend] = [null, 0];
    const lines = [];
    if (!ends.length) {
      // What leaves the scheme goes down.
      Object.assign(begin, { x: first.x + WIDTH / 2 + 18 * count, y: first.y + HEIGHT });
      end = { x: begin.x, y: begin.y + 30 };
    } else {
      const last = ends[0];
      end = { x: last.x, y: last.y + HEIGHT / 2 };
      if (last.x <= first.x) {
        // Back: below the boxes.
        Object.assign(begin, { x: first.x + WIDTH / 2 - 14, y: first.y + HEIGHT });
        Object.assign(end, { x: last.x + WIDTH / 2 + 14, y: last.y + HEIGHT });
        bend = 34;
      } else if (drawn.get(`${to} ${from}`)) bend = -10;
    }
    const middle = { x: (begin.x + end.x) / 2, y: (begin.y + end.y) / 2 + bend + 14 * count };
    const d = `M${begin.x},${begin.y} Q${middle.x},${middle.y + bend} ${end.x},${end.y}`;
    lines.push(svg("path", { class: "step", d, "marker-end": "url(#pyspec-step)" }));
    for (const other of places.slice(1)) {
      lines.push(svg("path", { class: "step", d: `M${other.x + WIDTH / 2},${other.y + (other.y > first.y ? 0 : HEIGHT)} L${middle.x},${middle.y}` }));
    }
    for (const other of ends.slice(1)) {
      lines.push(svg("path", { class: "step", d: `M${middle.x},${middle.y} L${other.x},${other.y + HEIGHT / 2}`, "marker-end": "url(#pyspec-step)" }));
    }
    const row = rows.get(rate);
    const short = row?.role ?? rate ?? "";
    const value = row ? ` ${digits(row.value, 3)}` : "";
    const place = ends.length ? { x: middle.x, y: middle.y - 6 + bend / 2, "text-anchor": "middle" } : { x: end.x + 5, y: end.y - 4 };
    const width = 7 * (short.length + value.length);
    const left = place["text-anchor"] ? place.x - width / 2 : place.x;
    const text = svg(
      "g",
      { class: "rate", tabindex: 0, role: "button", "aria-label": `${rate}${value}` },
      svg("rect", { x: left, y: place.y - 14, width, height: 20, fill: "transparent" }),
      svg("text", place, svg("tspan", {}, short), svg("tspan", { class: "small" }, value)),
    );
    const act = () => rate && this.lead(rate);
    text.addEventListener("click", act);
    text.addEventListener("keydown", (event) => event.key === "Enter" && act());
    text.append(svg("title", {}, `${rate}${row?.expr ? ` = ${row.expr}` : ""}: a click leads to its row`));
    return [...lines, text];
  }
}

// Columns by the steps from the start, rows within each.
function layout(states, steps) {
  const depth = new Map();
  const visit = (names) => {
    let next = names;
    for (let at = 0; next.length; at++) {
      for (const name of next) if (!depth.has(name)) depth.set(name, at);
      const reached = steps.filter(({ from }) => from.some((name) => next.includes(name))).flatMap(({ to }) => to);
      next = [...new Set(reached)].filter((name) => !depth.has(name));
    }
  };
  visit(states.filter(({ start }) => start && start !== "0").map(({ name }) => name));
  for (const { name } of states) if (!depth.has(name)) visit([name]);
  const counts = [];
  const at = new Map();
  for (const { name } of states) {
    const column = depth.get(name);
    const row = counts[column] ?? 0;
    counts[column] = row + 1;
    at.set(name, { x: 12 + column * ACROSS, y: 10 + row * DOWN });
  }
  const most = Math.max(...counts.map((count) => count ?? 0));
  return { at, width: 24 + (counts.length - 1) * ACROSS + WIDTH + 40, height: 20 + most * DOWN };
}

function heads() {
  const head = svg("path", { d: "M0,0 L8,4 L0,8 z", fill: "var(--ink)" });
  const box = { id: "pyspec-step", markerWidth: 8, markerHeight: 8, refX: 7, refY: 4, orient: "auto" };
  return svg("defs", {}, svg("marker", box, head));
}
