// The bar at the top: undo, fit, pointer, components, save, and the keys.

import { h } from "./dom.js";
import { choose } from "./chooser.js";
import { help } from "./help.js";
import { closeMenu, showMenu } from "./menu.js";
import { rangesMenu } from "./ranges.js";

export class Bar {
  constructor(root, link, tools, views) {
    Object.assign(this, { root, link, tools, views });
    const button = (label, title, run, more = {}) =>
      h("button", { type: "button", title, "aria-label": title, onclick: run, ...more }, label);
    this.title = h("h1", {}, "pyspec build");
    this.undo = button("↶", "Undo (Ctrl-Z)", () => this.ask("undo"));
    this.redo = button("↷", "Redo (Ctrl-Y)", () => this.ask("redo"));
    this.fit = button("Fit", "Fit all (F)", () => this.start(this.isJoint ? "joint" : "all"), { class: "main" });
    this.file = button("This file", "Fit the file that is shown alone", () => this.start("all"), { hidden: true });
    this.files = h("select", { title: "The file that is shown", "aria-label": "file", hidden: true, onchange: () => this.show(Number(this.files.value)) });
    this.spectrum = button("Spectrum", "Fit this spectrum (Shift-F)", () => this.start("spectrum"));
    this.slices = button("Slices", "Fit each spectrum", () => this.start("slices"));
    this.stop = button("Stop", "Stop the fit (Escape)", () => this.ask("stop"));
    this.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "progress of the fit" });
    this.live = button("Live", "Keep fitting while dragging (L)", () => this.toggleLive());
    this.kinds = {
      pick: button("Pick", "Pointer: handles, cursor, new lines (V)", () => tools.choose("pick")),
      window: button("Window", "Pointer: draw the fit window (W)", () => tools.choose("window")),
      exclude: button("Exclude", "Pointer: exclude a range (X)", () => tools.choose("exclude")),
    };
    this.clear = button("Ranges…", "Window and excluded ranges as numbers (R)", () => this.ranges());
    this.component = button("Add…", "Add a component (A)", () => this.add());
    this.hump = h("select", { title: "What a drag across a hump adds", "aria-label": "what a drag across a hump adds", onchange: () => (tools.component = this.hump.value) });
    this.drags = h("label", {}, h("small", {}, "drag adds "), this.hump);
    this.model = h("select", { title: "The model that is shown", "aria-label": "model", onchange: () => link.ask({ do: "model_choose", name: this.model.value }) });
    this.save = button("Save", "Save (Ctrl-S)", () => this.store());
    this.theme = button("◐", "Light or dark", () => this.turn());
    this.help = button("?", "Keys and pointer", () => showMenu(this.help, "Keys and pointer", help()));
    this.offer = h("span", { class: "set", hidden: true });
    const set = (...some) => h("span", { class: "set" }, ...some);
    this.element = h(
      "div",
      { class: "top", role: "toolbar", "aria-label": "Commands" },
      this.title,
      set(this.files, this.model, this.undo, this.redo),
      set(this.fit, this.file, this.spectrum, this.slices, this.stop, this.live, this.progress),
      set(this.component, this.drags),
      set(...Object.values(this.kinds), this.clear),
      this.offer,
      h("span", { class: "space" }),
      set(this.save, this.theme, this.help),
    );
    tools.listeners.push(() => this.pressed());
    this.pressed();
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", () => this.paint(isDark(system)));
    this.paint(isDark(system));
    link.on(["file"], () => this.name());
    link.on(["library"], () => this.fill());
    link.on(["models"], () => this.listModels());
    link.on(["files"], () => this.listFiles());
    link.on(["history"], () => this.steps());
    link.on(["fit"], () => this.fitting());
    link.on(["window", "excluded"], () => this.marked());
    link.on(["saved"], () => link.state.saved && (this.save.title = `Saved as ${link.state.saved} (Ctrl-S)`));
    link.on(["offer"], () => this.restore());
  }

  ask(name, more = {}) {
    return this.link.ask({ do: name, ...more });
  }

  start(what) {
    if (!this.link.state.fit?.running) this.ask("fit", { what });
  }

  toggleLive() {
    this.ask("live", { on: !this.link.state.fit?.live });
  }

  async store() {
    const answer = await this.ask("save");
    if (answer.ok) this.tools.say(`Saved as ${this.link.state.saved ?? answer.path ?? ""}`);
  }

  ranges() {
    rangesMenu(this.clear, this.link, this.tools.axes);
  }

  add() {
    const { file, components = [], library = [] } = this.link.state;
    const own = components.filter((one) => !one.of).map((one) => one.where);
    const isTrace = file?.kind === "trace";
    // A series has lines, or laws of time with a spectrum that is free.
    const kinds = isTrace ? ["time"] : ["energy", "time"].filter((where) => own.every((one) => one === where));
    choose(this.component, library, kinds, isTrace, (item) => this.tools.add(item.name));
  }

  turn() {
    this.paint(!this.root.classList.contains("dark"));
  }

  paint(isDark) {
    this.root.classList.toggle("dark", isDark);
    if (this.root.isConnected) this.views.redraw();
  }

  pressed() {
    for (const [kind, button] of Object.entries(this.kinds)) {
      button.setAttribute("aria-pressed", String(kind === this.tools.kind));
    }
  }

  name() {
    const { name = "", shape = [], kind = "series" } = this.link.state.file ?? {};
    this.spectrum.hidden = this.slices.hidden = kind !== "series";
    this.drags.hidden = kind === "trace";
    this.title.textContent = name;
    this.title.title = `${name} (${shape.join(" × ")})`;
    document.title = this.root.closest(".pyspec-page") ? `${name} · pyspec build` : document.title;
  }

  fill() {
    const items = (this.link.state.library ?? []).flatMap((group) => group.items);
    const peaks = items.filter((item) => item.kind === "PEAK" && item.where === "energy");
    this.hump.replaceChildren(...peaks.map((item) => h("option", { value: item.name }, item.name)));
    if (!peaks.some((item) => item.name === this.tools.component)) this.tools.component = peaks[0]?.name;
    this.hump.value = this.tools.component;
  }

  show(file) {
    this.ask("file", { file });
  }

  listFiles() {
    const { all = [], chosen } = this.link.state.files ?? {};
    this.isJoint = all.length > 1;
    this.files.hidden = this.file.hidden = !this.isJoint;
    this.title.hidden = this.isJoint; // the choice says it
    this.fit.title = this.isJoint ? "Fit all files together (F)" : "Fit all (F)";
    this.fit.setAttribute("aria-label", this.fit.title);
    this.fit.textContent = this.isJoint ? "Fit all" : "Fit";
    this.root.classList.toggle("several", this.isJoint);
    this.files.replaceChildren(...all.map((name, i) => h("option", { value: i }, name)));
    this.files.value = String(chosen);
  }

  listModels() {
    const { all = [], chosen } = this.link.state.models ?? {};
    this.model.replaceChildren(...all.map(({ name }) => h("option", { value: name }, name)));
    this.model.value = chosen;
  }

  steps() {
    const { steps = [], at = 0 } = this.link.state.history ?? {};
    const places = steps.map((step, i) => step.step ?? i);
    this.undo.disabled = !places.some((place) => place < at);
    this.redo.disabled = !places.some((place) => place > at);
  }

  fitting() {
    const fit = this.link.state.fit ?? {};
    for (const button of [this.fit, this.file, this.spectrum, this.slices]) button.disabled = Boolean(fit.running);
    this.stop.disabled = !fit.running;
    this.live.setAttribute("aria-pressed", String(Boolean(fit.live)));
    this.progress.hidden = !fit.running;
    if (fit.total) this.progress.value = fit.done / fit.total;
    else this.progress.removeAttribute("value");
  }

  marked() {
    const { window, excluded } = this.link.state;
    const isCut = Boolean(window?.energy || window?.time || excluded?.length);
    this.clear.setAttribute("aria-pressed", String(isCut));
  }

  restore() {
    const { offer } = this.link.state;
    this.offer.hidden = !offer;
    if (!offer) return;
    const answer = (accept) => () => this.ask("restore", { accept });
    this.offer.replaceChildren(
      h("b", {}, `Unfinished session of ${offer.when}: ${offer.label}`),
      h("button", { type: "button", class: "main", onclick: answer(true) }, "go on with it"),
      h("button", { type: "button", onclick: answer(false) }, "no"),
    );
  }

  key(event) {
    const isText = event.target.closest("input[type=text], .CodeMirror, select");
    const isControl = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (isControl) {
      if (event.target.closest(".CodeMirror") && key !== "s") return;
      if (key === "z") this.ask(event.shiftKey ? "redo" : "undo");
      else if (key === "y") this.ask("redo");
      else if (key === "s") this.store();
      else return;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (isText || event.altKey) return;
    const { map, side } = this.views;
    const kinds = ["data", "fit", "residual"];
    const runs = {
      a: () => this.add(),
      f: () => this.start(event.shiftKey ? "spectrum" : this.isJoint ? "joint" : "all"),
      n: () => this.isJoint && this.show((Number(this.files.value) + (event.shiftKey ? -1 + this.files.length : 1)) % this.files.length),
      l: () => this.toggleLive(),
      v: () => this.tools.choose("pick"),
      w: () => this.tools.choose("window"),
      x: () => this.tools.choose("exclude"),
      r: () => this.ranges(),
      m: () => map.choose(kinds[(kinds.indexOf(map.shown) + 1) % 3]),
      g: () => map.setLog(!map.isLog),
      "?": () => this.help.click(),
      Escape: () => (closeMenu(), this.link.state.fit?.running && this.ask("stop")),
    };
    ["parameters", "graph", "YAML", "models", "inspect"].forEach((name, i) => (runs[i + 1] = () => side.choose(name)));
    if (!runs[key]) return;
    event.preventDefault();
    event.stopPropagation();
    runs[key]();
  }
}

// A notebook says by itself whether it is dark: JupyterLab and VS Code in attributes of the page.
function isDark(system) {
  const { dataset } = document.body;
  if (dataset.jpThemeLight) return dataset.jpThemeLight === "false";
  if (dataset.vscodeThemeKind) return dataset.vscodeThemeKind.includes("dark");
  return system.matches;
}
