// The parameters as a graph: a box for each component, ties as arrows, laws beside what they move.
// A law is dropped on a parameter; a parameter that is dragged onto another makes it follow.

import { h, svg, digits, shortName } from "./dom.js";
import { colourOf } from "./colours.js";
import { askTie, parameterMenu } from "./menu.js";

const [WIDTH, ROW, GAP, HEAD] = [150, 22, 92, 26];

export class Graph {
  constructor(link) {
    this.link = link;
    this.laws = h("div", { class: "laws" });
    this.sheet = h("div", { class: "sheet" });
    const hint = "Drop a law on a parameter. Drag one parameter onto another: the other follows it.";
    this.element = h("div", { class: "graph" }, this.laws, h("div", { class: "hint" }, hint), this.sheet);
    this.ports = new Map();
    link.on(["parameters", "components"], () => this.draw());
    link.on(["library"], () => this.palette());
  }

  palette() {
    const items = (this.link.state.library ?? []).flatMap((group) => group.items);
    const pills = items
      .filter((item) => item.where === "time")
      .map((item) => {
        const pill = h("span", { class: "pill", title: `${item.name} = ${item.formula}` }, item.name);
        const drop = (name) => this.link.ask({ do: "law", parameter: name, function: item.name });
        pill.addEventListener("pointerdown", (event) => this.carry(event, pill, item.name, drop));
        return pill;
      });
    this.laws.hidden = !pills.length;
    this.laws.replaceChildren(...pills);
  }

  draw() {
    if (!this.element.isConnected || this.element.closest("[hidden]")) return;
    const { parameters = [], components = [] } = this.link.state;
    const focused = document.activeElement?.dataset?.port;
    const places = this.layout(parameters, components);
    const parts = [];
    this.ports.clear();
    for (const place of places.boxes) parts.push(...this.box(place, components));
    const width = places.width;
    for (const row of parameters) {
      const to = places.at.get(row.name);
      if (!to || !row.expr) continue;
      for (const name of new Set(row.expr.match(/[A-Za-z_]\w*/g) ?? [])) {
        const from = places.at.get(name);
        if (from) parts.push(...this.tie(row, from, to));
      }
    }
    for (const component of components) {
      const moved = places.at.get(component.of);
      const own = places.heads.get(component.name);
      if (moved && own) parts.push(curve("law", moved.x + WIDTH, moved.y, own.x, own.y));
    }
    const picture = svg("svg", { width, height: places.height, role: "group", "aria-label": "Graph of the parameters" }, arrow(), ...parts);
    const { scrollLeft, scrollTop } = this.sheet;
    this.sheet.replaceChildren(picture);
    Object.assign(this.sheet, { scrollLeft, scrollTop });
    if (focused) this.ports.get(focused)?.focus();
  }

  // Components one below the other, their laws to the right of them.
  layout(parameters, components) {
    const rows = new Map(parameters.map((row) => [row.name, row]));
    const [at, heads, boxes] = [new Map(), new Map(), []];
    const bottoms = [];
    const left = new Set(rows.keys()); // a parameter of several components stands at the first
    const put = (component, depth, least) => {
      const x = 12 + depth * (WIDTH + GAP);
      const y = Math.max(least, bottoms[depth] ?? 10);
      const own = component.parameters.filter((name) => left.delete(name)).map((name) => rows.get(name));
      boxes.push({ component, x, y, own });
      heads.set(component.name, { x, y: y + HEAD / 2 });
      own.forEach((row, i) => at.set(row.name, { x, y: y + HEAD + (i + 0.5) * ROW }));
      bottoms[depth] = y + HEAD + own.length * ROW + 18;
      for (const law of components) {
        if (component.parameters.includes(law.of)) put(law, depth + 1, at.get(law.of)?.y - HEAD);
      }
    };
    for (const component of components) if (!component.of) put(component, 0, 10);
    return { at, heads, boxes, width: 24 + bottoms.length * (WIDTH + GAP), height: Math.max(60, ...bottoms) };
  }

  box({ component, x, y, own }, components) {
    const colour = colourOf(components, component.name);
    const height = HEAD + own.length * ROW + 4;
    const parts = [
      svg("rect", { class: "box", x, y, width: WIDTH, height, rx: 6 }),
      svg("rect", { x, y, width: 5, height, rx: 2, fill: colour }),
      text(shortName(component), x + 12, y + 17, { "font-weight": 600 }),
    ];
    own.forEach((row, i) => {
      const top = y + HEAD + i * ROW;
      const port = svg("rect", {
        class: "port", x: x + 9, y: top + 1, width: WIDTH - 15, height: ROW - 3, rx: 4, tabindex: 0,
        role: "button", "aria-label": `${row.name} ${digits(row.value)}${row.expr ? `, follows ${row.expr}` : ""}`,
      });
      port.dataset.port = row.name;
      port.addEventListener("pointerdown", (event) => {
        const drop = (name) => name !== row.name && askTie(this.ports.get(name), this.link, name, row.name);
        this.carry(event, port, `= ${row.name}`, drop, { x: x + WIDTH - 6, y: top + ROW / 2 });
      });
      port.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        parameterMenu(port, this.link, row.name);
      });
      this.ports.set(row.name, port);
      const value = row.free ? "free" : row.expr ? row.expr : digits(row.value, 5);
      const short = value.length > 13 ? `${value.slice(0, 12)}…` : value;
      parts.push(port, text(row.role ?? row.name, x + 15, top + 15));
      parts.push(text(short, x + WIDTH - 10, top + 15, { "text-anchor": "end", class: "small" }));
    });
    return parts;
  }

  tie(row, from, to) {
    const parts = [curve("edge", from.x + 9, from.y, to.x + 9, to.y, true), curve("edge wide", from.x + 9, from.y, to.x + 9, to.y, true)];
    parts[0].setAttribute("marker-end", "url(#pyspec-arrow)");
    parts[1].addEventListener("click", () => {
      askTie(this.ports.get(row.name), this.link, row.name, row.expr.match(/[A-Za-z_]\w*/)[0]);
      const field = document.activeElement?.closest(".menu")?.querySelector("input");
      if (field) Object.assign(field, { value: row.expr });
    });
    parts[1].append(svg("title", {}, `${row.name} = ${row.expr}: click to edit`));
    return parts;
  }

  // Carries a name with the pointer to a parameter. Without a move it is a click.
  carry(event, source, label, drop, from = null) {
    if (event.button !== 0) return;
    event.preventDefault();
    const root = this.element.closest(".pyspec-builder");
    const ghost = h("span", { class: "pill ghost" }, label);
    const box = root.getBoundingClientRect();
    const sheet = this.sheet.firstElementChild;
    const draft = from ? svg("path", { class: "edge draft" }) : null;
    let target = null;
    let isMoved = false;
    const move = (now) => {
      if (!isMoved && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < 5) return;
      if (!isMoved) {
        root.append(ghost);
        if (draft) sheet.append(draft);
      }
      isMoved = true;
      ghost.style.left = `${now.clientX - box.left + 10}px`;
      ghost.style.top = `${now.clientY - box.top + 10}px`;
      if (draft) {
        const here = sheet.getBoundingClientRect();
        draft.setAttribute("d", `M${from.x},${from.y} L${now.clientX - here.left},${now.clientY - here.top}`);
      }
      target?.classList.remove("target");
      target = document.elementFromPoint(now.clientX, now.clientY)?.closest?.("[data-port]") ?? null;
      target?.classList.add("target");
    };
    const end = () => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", end);
      ghost.remove();
      draft?.remove();
      target?.classList.remove("target");
      if (target && isMoved) drop(target.dataset.port);
      else if (!isMoved && source.dataset.port) parameterMenu(source, this.link, source.dataset.port);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end);
  }
}

function text(content, x, y, more = {}) {
  return svg("text", { x, y, ...more }, content);
}

// A curve between two places; `isBack` leaves and enters at the left side of boxes.
function curve(kind, x1, y1, x2, y2, isBack = false) {
  const bend = isBack ? -8 - 0.12 * Math.abs(y2 - y1) : 40;
  const d = `M${x1},${y1} C${x1 + bend},${y1} ${x2 + (isBack ? bend : -40)},${y2} ${x2},${y2}`;
  return svg("path", { class: kind, d });
}

function arrow() {
  const head = svg("path", { d: "M0,0 L8,4 L0,8 z", fill: "var(--accent)" });
  const box = { id: "pyspec-arrow", markerWidth: 8, markerHeight: 8, refX: 7, refY: 4, orient: "auto" };
  return svg("defs", {}, svg("marker", box, head));
}
