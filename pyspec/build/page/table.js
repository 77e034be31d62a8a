// The table of parameters: one group for each component and each law, one row for each parameter.

import { h, digits, number, shortName } from "./dom.js";
import { colourOf } from "./colours.js";
import { parameterMenu } from "./menu.js";

const EMPTY =
  "No components yet. Press A to choose one from pictures; a drag across a hump in a spectrum adds " +
  "a line there.";
const FIELDS = ["value", "min", "max"];

export class Table {
  constructor(link) {
    this.link = link;
    this.rows = new Map();
    this.names = "";
    this.body = h("div", { class: "rows" });
    this.element = h("div", { class: "table", role: "table", "aria-label": "Parameters" }, heading(), this.body);
    link.on(["parameters", "components"], () => this.draw());
  }

  draw() {
    const { parameters = [], components = [] } = this.link.state;
    const names = JSON.stringify([
      parameters.map((row) => [row.name, row.law, row.unit]),
      components.map((one) => [one.name, one.of]),
    ]);
    if (names !== this.names) {
      this.names = names;
      this.build(parameters, components);
    }
    for (const row of parameters) this.rows.get(row.name)?.show(row);
  }

  build(parameters, components) {
    const focused = document.activeElement?.closest?.(".row")?.dataset.name;
    const field = document.activeElement?.dataset?.field;
    this.rows.clear();
    const groups = [];
    const byName = new Map(parameters.map((row) => [row.name, row]));
    const left = new Set(byName.keys());
    const listed = components.filter((one) => !one.of);
    const add = (component) => {
      // A rate of several states stands at the first of them.
      const own = component.parameters.filter((name) => left.has(name)).map((name) => byName.get(name));
      groups.push(this.group(component, own));
      for (const row of own) left.delete(row.name);
      for (const law of components) if (component.parameters.includes(law.of)) add(law);
    };
    listed.forEach(add);
    const rest = [...left].map((name) => byName.get(name));
    if (rest.length) groups.push(this.group({ name: "others" }, rest));
    this.body.replaceChildren(...(groups.length ? groups : [h("p", { class: "hint" }, EMPTY)]));
    if (focused && field) this.focus(focused, field);
  }

  group(component, parameters) {
    const colour = colourOf(this.link.state.components ?? [], component.name);
    const drop = () =>
      component.of
        ? this.link.ask({ do: "drop_law", parameter: component.of, function: shortName(component) })
        : this.link.ask({ do: "remove", component: component.name });
    const title = component.of ? `${shortName(component)} of ${component.of}` : component.name;
    const head = h(
      "div",
      { class: `group${component.of ? " law" : ""}`, role: "row" },
      h("i", { class: "chip", style: `--colour: ${colour}` }),
      h("b", {}, title),
      h("span", { class: "muted formula", title: component.formula }, component.formula ?? ""),
      component.function
        ? h("button", { type: "button", class: "quiet", title: `Remove ${component.name}`, "aria-label": `Remove ${component.name}`, onclick: drop }, "×")
        : null,
    );
    const made = parameters.map((row) => {
      const line = new Row(this.link, row);
      this.rows.set(row.name, line);
      return line.element;
    });
    return h("div", { role: "rowgroup" }, head, ...made);
  }

  focus(name, field = "value") {
    const row = this.rows.get(name);
    if (!row) return;
    row.element.scrollIntoView({ block: "nearest" });
    row.inputs[field]?.focus();
    row.element.classList.add("flash");
    setTimeout(() => row.element.classList.remove("flash"), 1200);
  }
}

function heading() {
  const names = ["", "value", "error", "min", "max", "fit", "follows", "files", ""];
  return h("div", { class: "row head", role: "row" }, ...names.map((name) => h("span", { role: "columnheader", class: name === "files" ? "shared" : "" }, name)));
}

class Row {
  constructor(link, row) {
    this.link = link;
    this.row = row;
    this.inputs = {};
    for (const field of FIELDS) this.inputs[field] = this.field(field);
    this.inputs.vary = h("input", {
      type: "checkbox",
      title: "Whether the fit changes it",
      "aria-label": `fit ${row.name}`,
      onchange: (event) => this.send("vary", event.target.checked),
    });
    this.inputs.vary.dataset.field = "vary";
    this.inputs.expr = this.field("expr");
    // Of several files: whether all have this value together.
    this.inputs.shared = h("button", { type: "button", class: "shared", onclick: () => this.share() });
    this.inputs.shared.dataset.field = "shared";
    this.error = h("span", { class: "error number" });
    const name = row.role ?? row.name;
    const more = h("button", { type: "button", class: "quiet", title: "Law, tie, bounds", "aria-label": `More for ${row.name}`, "aria-haspopup": "dialog" }, "⋯");
    more.addEventListener("click", () => parameterMenu(more, link, row.name));
    this.inputs.more = more;
    more.dataset.field = "more";
    const label = h("span", { class: "name", title: row.name }, name, h("small", {}, row.unit ? ` ${row.unit}` : ""));
    const { value, min, max, vary, expr, shared } = this.inputs;
    this.element = h("div", { class: "row", role: "row" }, label, value, this.error, min, max, vary, expr, shared, more);
    this.element.dataset.name = row.name;
  }

  field(field) {
    const input = h("input", {
      type: "text",
      class: field === "expr" ? "expr" : "number",
      spellcheck: false,
      autocomplete: "off",
      "aria-label": `${field} of ${this.row.name}`,
    });
    input.dataset.field = field;
    input.addEventListener("focus", () => {
      input.value = this.text(field, true);
      input.select();
    });
    input.addEventListener("blur", async () => {
      await this.take(field);
      if (document.activeElement === input) return;
      this.mark(field, ""); // what was refused is given up
      input.value = this.text(field, false);
    });
    input.addEventListener("keydown", (event) => this.key(field, event));
    return input;
  }

  // What a field shows: as many digits as fit into it, all of them while it is edited.
  text(field, isFull) {
    const value = this.row[field];
    if (field === "expr") return value ?? "";
    if (value === null || value === undefined) return "";
    return isFull ? String(value) : short(value, field === "value" ? 10 : 7);
  }

  key(field, event) {
    const input = this.inputs[field];
    if (event.key === "Enter") this.take(field);
    else if (event.key === "Escape") {
      input.value = this.text(field, true);
      input.select();
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && field === "value") {
      this.step((event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Changes the value by standard errors, or percents. Steps that follow each other are one.
  step(by) {
    const { name, value, stderr, min, max } = this.row;
    const now = this.stepped ?? value;
    const next = now + by * (stderr || Math.abs(now) / 100 || 0.01);
    this.stepped = Math.min(Math.max(next, min ?? -Infinity), max ?? Infinity);
    const send = (drag) => this.link.sendStep({ do: "set", edits: [{ name, field: "value", value: this.stepped }], drag });
    send(true);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      send("end");
      this.stepped = undefined;
    }, 500);
  }

  // Sends what a person has typed, if it differs.
  async take(field) {
    const input = this.inputs[field];
    const text = input.value;
    if (text === this.text(field, true) || text === this.text(field, false)) return;
    const value = field === "expr" ? text.trim() : number(text);
    if (Number.isNaN(value) || (field === "value" && value === null)) {
      this.mark(field, `${text} is no number`);
      return;
    }
    const bound = Number.isFinite(value) || field === "expr" ? value : null;
    const answer = await this.send(field, bound);
    if (answer.ok) this.mark(field, "");
    else this.mark(field, answer.error.message);
  }

  mark(field, message) {
    const input = this.inputs[field];
    input.setCustomValidity(message);
    input.title = message;
  }

  share() {
    return this.send("vary", this.row.scope === "project" ? true : "project");
  }

  send(field, value) {
    return this.link.ask({ do: "set", name: this.row.name, field, value });
  }

  show(row) {
    this.row = row;
    for (const field of [...FIELDS, "expr"]) {
      const input = this.inputs[field];
      const isEdited = document.activeElement === input;
      const text = this.text(field, isEdited);
      if (!isEdited) {
        if (input.value !== text) input.value = text;
      } else if (this.shown?.[field] !== row[field]) input.value = text;
    }
    this.shown = row;
    const { inputs, error, element } = this;
    inputs.value.disabled = Boolean(row.expr) || row.value === null;
    inputs.value.placeholder = row.free ? "free" : row.value === null ? "by energy" : "";
    inputs.value.dataset.value = String(row.value);
    inputs.vary.checked = row.free || row.vary !== false;
    inputs.vary.disabled = Boolean(row.expr) || row.free;
    const isShared = row.scope === "project";
    const name = row.role ?? row.name;
    inputs.shared.textContent = isShared ? "shared" : "own";
    inputs.shared.disabled = Boolean(row.expr);
    inputs.shared.setAttribute("aria-pressed", String(isShared));
    inputs.shared.title = isShared ? `${name} is the same in all files; a click gives each its own` : `Each file has its own ${name}; a click makes it the same in all`;
    element.classList.toggle("common", isShared);
    const says = row.stderr === null || row.stderr === undefined ? "" : `± ${digits(row.stderr, 2)}`;
    if (error.textContent !== says) error.textContent = says;
    element.classList.toggle("tied", Boolean(row.expr));
    element.classList.toggle("bound", Boolean(row.at_bound));
    if (row.at_bound) inputs[row.at_bound].title = "The value is at this bound.";
  }
}

// A number in so many characters, if three digits of it find place there.
function short(value, width) {
  for (let count = 7; count > 3; count--) {
    const text = digits(value, count);
    if (text.length <= width) return text;
  }
  return digits(value, 3);
}
