// A menu at an element, and what can be done with one parameter.

import { h, digits } from "./dom.js";
import { card } from "./cards.js";

let open = null;

export function closeMenu() {
  const { panel, anchor, away } = open ?? {};
  open = null;
  if (!panel) return;
  document.removeEventListener("pointerdown", away, true);
  const hadFocus = panel.contains(document.activeElement);
  panel.remove();
  if (hadFocus) anchor.focus?.({ preventScroll: true });
}

// Shows `content`, elements, below `anchor`. Escape or a click elsewhere closes it.
export function showMenu(anchor, title, content) {
  closeMenu();
  const panel = h("div", { class: "menu", role: "dialog", "aria-label": title }, h("h3", {}, title), ...content);
  panel.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const stops = [...panel.querySelectorAll("button, input, select")];
    const at = stops.indexOf(document.activeElement);
    const isText = document.activeElement?.tagName === "INPUT";
    if (event.key === "Escape") closeMenu();
    else if (event.key === "ArrowDown" && !isText) stops[(at + 1) % stops.length]?.focus();
    else if (event.key === "ArrowUp" && !isText) stops[(at - 1 + stops.length) % stops.length]?.focus();
    else return;
    event.preventDefault();
  });
  const root = anchor.closest(".pyspec-builder");
  root.append(panel);
  const [box, outer] = [anchor.getBoundingClientRect(), root.getBoundingClientRect()];
  const left = Math.min(box.left - outer.left, outer.width - panel.offsetWidth - 8);
  const below = box.bottom - outer.top + 2;
  const fits = below + panel.offsetHeight < outer.height;
  panel.style.left = `${Math.max(4, left)}px`;
  panel.style.top = `${fits ? below : Math.max(4, outer.height - panel.offsetHeight - 8)}px`;
  const away = (event) => {
    if (!panel.contains(event.target)) closeMenu();
  };
  document.addEventListener("pointerdown", away, true);
  open = { panel, anchor, away };
  const first = panel.querySelector("button, input, select");
  first?.focus();
  first?.select?.();
}

// A button of a menu, which closes it.
export function choice(label, run, title = "") {
  const act = () => {
    closeMenu();
    run();
  };
  return h("button", { type: "button", class: "choice", title, onclick: act }, label);
}

// How `name` may follow `source`: the same value, or the difference or ratio of now.
export function ties(rows, name, source) {
  const [own, other] = [rows.get(name)?.value ?? 0, rows.get(source)?.value ?? 0];
  const difference = own - other;
  const kinds = [["same value", source]];
  if (difference) {
    const sign = difference < 0 ? "-" : "+";
    kinds.push(["same distance", `${source} ${sign} ${digits(Math.abs(difference), 5)}`]);
  }
  if (difference && own / other > 0) kinds.push(["same ratio", `${source} * ${digits(own / other, 5)}`]);
  return kinds;
}

// Asks how `name` is to follow `source`.
export function askTie(anchor, link, name, source) {
  const rows = new Map(link.state.parameters.map((row) => [row.name, row]));
  const send = (expr) => link.ask({ do: "set", name, field: "expr", value: expr });
  const text = h("input", { type: "text", value: source, "aria-label": "expression" });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // else what gets the focus back is pressed
    closeMenu();
    send(text.value);
  });
  const offers = ties(rows, name, source).map(([label, expr]) =>
    choice(h("span", {}, `${label}: `, h("code", {}, expr)), () => send(expr)),
  );
  showMenu(anchor, `${name} follows ${source}`, [...offers, h("label", {}, "other: ", text)]);
}

// All that can be done with a parameter.
export function parameterMenu(anchor, link, name) {
  const row = link.state.parameters.find((one) => one.name === name);
  if (!row) return;
  const laws = (link.state.library ?? []).flatMap((group) => group.items).filter((item) => item.where === "time");
  const content = [];
  if (laws.length && !row.of && !row.expr) {
    content.push(h("h4", {}, "Let it change with time"));
    const add = (item) => link.ask({ do: "law", parameter: name, function: item.name });
    content.push(
      h("div", { class: "cards laws" }, ...laws.map((item) => card(item, (one) => (closeMenu(), add(one))))),
    );
  }
  for (const law of row.law ?? []) {
    content.push(choice(`Remove ${law}`, () => link.ask({ do: "drop_law", parameter: name, function: law })));
  }
  if (row.expr) {
    content.push(choice("Untie", () => link.ask({ do: "set", name, field: "expr", value: "" }), row.expr));
  }
  const others = link.state.parameters.filter((one) => one.name !== name && one.expr !== name);
  if (others.length) {
    const alike = others.filter((one) => one.role === row.role);
    const rest = others.filter((one) => one.role !== row.role);
    const option = (one) => h("option", { value: one.name }, one.name);
    const select = h(
      "select",
      { "aria-label": "parameter to follow" },
      h("option", { value: "" }, "choose…"),
      ...alike.map(option),
      ...rest.map(option),
    );
    select.addEventListener("change", () => select.value && askTie(anchor, link, name, select.value));
    content.push(h("label", {}, "Follow ", select));
  }
  const free = (axis) => link.ask({ do: "set", name, field: "free", value: axis });
  if (row.free) content.push(choice("One value again", () => free("")));
  else if (row.frees && !row.expr && !row.law?.length) content.push(choice(`Free it at each ${row.frees}`, () => free(row.frees), "A fit then solves for it there: no shape, no law"));
  content.push(choice("Open its bounds", () => {
    const edits = ["min", "max"].map((field) => ({ name, field, value: null }));
    link.ask({ do: "set", edits });
  }));
  showMenu(anchor, name, content);
}
