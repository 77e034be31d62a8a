// What keys and the pointer do.

import { h } from "./dom.js";

const KEYS = [
  ["A", "add a component (a picture to choose from)"],
  ["F", "fit all; Shift-F fits this spectrum; Escape stops"],
  ["L", "keep fitting while dragging"],
  ["Ctrl-Z, Ctrl-Y", "undo, redo"],
  ["Ctrl-S", "save"],
  ["V, W, X", "pointer picks, sets the window, excludes a range"],
  ["N", "the next of several files"],
  ["R", "window and excluded ranges as numbers"],
  ["1 2 3 4 5", "parameters, graph, YAML, models, inspect"],
  ["M", "map: data, fit, residual"],
  ["G", "log time"],
  ["arrows", "on a plot: move the cursor; on a handle: move it (Shift ×10, Alt ÷10)"],
  ["↑ ↓ in a value", "one standard error, or 1 %"],
  ["Tab", "from view to view, and through the handles"],
];
const POINTER = [
  ["top of a line", "drag: place and height"],
  ["its flank", "drag: width"],
  ["across a hump", "drag in the spectrum: a line is added there"],
  ["Shift-drag", "fit window; Alt-drag: exclude energies, or times; Alt-click: use them again"],
  ["wheel", "zoom; a double click shows all"],
  ["graph", "drop a law on a parameter; drag a parameter onto one that is to follow it"],
];

export function help() {
  const table = (rows, tag) =>
    h("table", {}, ...rows.map(([key, does]) => h("tr", {}, h("td", {}, h(tag, {}, key)), h("td", {}, does))));
  return [h("div", { class: "help" }, h("h4", {}, "Keys"), table(KEYS, "kbd"), h("h4", {}, "Pointer"), table(POINTER, "b"))];
}
