// The page of the builder: views of one model, and the commands that a person gives.

import { h, digits } from "./dom.js";
import { Link, overSocket, overWidget } from "./link.js";
import { Axes } from "./axes.js";
import { readTheme } from "./plots.js";
import { MapView } from "./map.js";
import { Curves } from "./curves.js";
import { Instead } from "./instead.js";
import { Table } from "./table.js";
import { Graph } from "./graph.js";
import { Schemes } from "./schemes.js";
import { Yaml } from "./yaml.js";
import { Tools } from "./tools.js";
import { Bar } from "./bar.js";
import { findings, history, inspect, models } from "./panels.js";

const TABS = ["parameters", "graph", "YAML", "models", "inspect"];
const WIDE = 1900; // pixels from which the parameters stay beside the other pages
const NARROW = 1000; // pixels below which the parameters are below the plots

// Draws the page into `el`, joined with the widget `model`, or with the server at `address`.
export function render({ el, model, address }) {
  // JupyterLab hears keys, too: its "x" would cut the cell.
  const root = h("div", { class: "pyspec-builder", tabIndex: -1, "data-lm-suppress-shortcuts": "true" });
  el.append(root);
  const link = new Link();
  const axes = new Axes();
  const say = sayer(link);
  const tools = new Tools(link, axes, say.show);
  const map = new MapView(link, axes, tools);
  const spectrum = new Curves("energy", link, axes, tools);
  const trace = new Curves("time", link, axes, tools);
  const others = [new Instead(link, axes, tools, spectrum), new Instead(link, axes, tools, trace)];
  const table = new Table(link);
  const lead = (name) => (side.choose("parameters"), table.focus(name));
  const graph = new Graph(link);
  const schemes = new Schemes(link, lead);
  const yaml = new Yaml(link);
  const inspection = inspect(link);
  const plots = h("div", { class: "plots" }, map.element, trace.element, spectrum.element);
  const side = sidebar(root, {
    parameters: [table.element, findings(link, lead)],
    graph: [schemes.element, graph.element],
    YAML: [yaml.element],
    models: [models(link), history(link)],
    inspect: [inspection.element],
  });
  const bar = new Bar(root, link, tools, { map, side, redraw });
  side.shown = (name) => {
    if (name === "graph") {
      schemes.draw();
      graph.draw();
    }
    if (name === "YAML") yaml.refresh();
    if (name === "inspect") inspection.show();
  };
  root.append(bar.element, say.element, h("div", { class: "main-area" }, plots, side.element));

  // The colours are read once for each change of the style, not for each drawing.
  function redraw() {
    readTheme(root);
    for (const view of [map, spectrum, trace, ...others]) view.plot?.made.redraw(false, true);
  }
  tools.views = [map, spectrum, trace];
  map.whenLog = (isLog) => {
    trace.setLog(isLog);
    for (const view of others) if (view.plot) view.draw();
  };
  link.on(["frame:axes"], () => {
    axes.take(link.frames.axes);
    const isMap = axes.energy.length > 1 && axes.time.length > 1;
    map.element.hidden = !isMap;
    trace.element.hidden = axes.time.length < 2;
    spectrum.element.hidden = axes.energy.length < 2;
    plots.classList.toggle("single", !isMap);
    for (const view of [spectrum, trace]) Object.assign(view, { names: "", zoom: null });
    readTheme(root);
    // Delays over several decades are seen on a logarithmic axis.
    if (isMap && axes.isUneven("time") !== map.isLog) map.setLog(!map.isLog);
    else map.build();
    tools.follow();
  });
  // Alone on its page the builder hears all keys, in a notebook those that are meant for it.
  const ear = model ? root : document;
  const hear = (event) => bar.key(event);
  ear.addEventListener("keydown", hear);
  side.choose("parameters");
  const end = model ? overWidget(link, model) : overSocket(link, withSockets(address));
  root.link = link; // for tests and benchmarks
  root.tools = tools;
  return () => {
    ear.removeEventListener("keydown", hear);
    end();
    root.remove();
  };
}

function withSockets(address) {
  return Object.assign(new URL(address), { protocol: address.protocol.replace("http", "ws") });
}

// The line below the bar: what was refused and how to mend it, or how the fit is.
function sayer(link) {
  const element = h("div", { class: "say", role: "status", "aria-live": "polite" });
  let timer = 0; // runs while something is said
  const fit = () => {
    if (timer) return;
    const { fit: state, problem } = link.state;
    element.classList.toggle("refused", Boolean(problem) || state?.success === false);
    if (problem) element.textContent = problem;
    else if (!link.post) element.textContent = "The connection to Python is lost; trying again.";
    else element.textContent = state ? describe(state) : "";
    element.title = element.textContent;
  };
  const show = (text, isRefused = false) => {
    element.textContent = text;
    element.classList.toggle("refused", isRefused);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      fit();
    }, 5000);
  };
  link.on(["refused"], ({ message = "", remedy = "" }) => {
    show(message.includes(remedy) ? message : `${message}. ${remedy}`, true);
  });
  link.on(["fit", "problem", "connection"], () => fit());
  return { element, show };
}

function describe(fit) {
  const parts = [];
  if (fit.running) parts.push(`Fits ${fit.what ?? ""}…`);
  else if (fit.chisqr) parts.push("Last fit");
  if (fit.chisqr !== null && fit.chisqr !== undefined) parts.push(`χ² = ${digits(fit.chisqr, 7)}`);
  if (fit.redchi !== null && fit.redchi !== undefined) parts.push(`reduced ${digits(fit.redchi, 5)}`);
  if (fit.nfev) parts.push(`${fit.nfev} evaluations`);
  if (fit.seconds) parts.push(`${digits(1000 * fit.seconds, 3)} ms`);
  if (fit.message) parts.push(fit.message);
  return parts.join(" · ");
}

// The pages at the right. On a wide screen the parameters stay beside the chosen one.
function sidebar(root, contents) {
  const pages = {};
  const tabs = {};
  const place = { chosen: "parameters", shown: null };
  const area = h("div", { class: "pages" });
  for (const name of TABS) {
    pages[name] = h("div", { class: `page ${name}`, role: "tabpanel", "aria-label": name }, ...contents[name]);
    tabs[name] = h("button", { type: "button", role: "tab", onclick: () => place.choose(name) }, name);
  }
  place.choose = (name) => {
    place.chosen = name;
    const hadFocus = area.contains(document.activeElement) ? document.activeElement : null;
    const isWide = root.clientWidth >= WIDE;
    root.classList.toggle("wide", isWide);
    root.classList.toggle("narrow", root.clientWidth < NARROW);
    const beside = isWide && name === "parameters" ? "graph" : name;
    for (const one of TABS) {
      pages[one].hidden = one !== beside && !(isWide && one === "parameters");
      tabs[one].setAttribute("aria-selected", String(!pages[one].hidden));
    }
    if (hadFocus && document.activeElement !== hadFocus) tabs[name].focus({ preventScroll: true });
    place.shown?.(beside);
  };
  new ResizeObserver(() => place.choose(place.chosen)).observe(root);
  area.append(...TABS.map((name) => pages[name]));
  const strip = h("div", { class: "tabs", role: "tablist" }, ...TABS.map((name) => tabs[name]));
  place.element = h("aside", { class: "side", "aria-label": "Model" }, strip, area);
  return place;
}

// Drawn at once on the page of the server; a notebook calls `render` itself.
const page = document.getElementById("pyspec-builder-page");
if (page) render({ el: page, address: new URL("ws", location.href) });
