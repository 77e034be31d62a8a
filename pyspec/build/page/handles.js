// Where the handles of components are, and which parameters a drag changes.

import { colourOf } from "./colours.js";
import { sizeOf } from "./plots.js";

const EDGE = 7; // pixels, so that a handle at the end of an axis is seen whole
const TINY = 1e-3; // of a width, below which a drag does not go

// The handles that belong on a view of curves, in pixels.
export function handlesOf(view, u) {
  const listed = view.link.state.components ?? [];
  const rows = new Map((view.link.state.parameters ?? []).map((row) => [row.name, row]));
  const [made, seen] = [[], new Set()];
  listed
    .filter((component) => component.where === view.along)
    .forEach((component, k) => {
      const top = component.handles?.find((one) => one.type === "top" || one.type === "t0");
      for (const spec of component.handles ?? []) {
        // States of a scheme share their onset: one handle is enough.
        const same = `${spec.type} ${Object.values(spec.parameters).join(" ")}`;
        const one = seen.has(same) ? null : handle(view, u, rows, component, spec, top, k);
        if (one) made.push(one);
        seen.add(same);
      }
    });
  return made;
}

function handle(view, u, rows, component, spec, top, place) {
  const { type, parameters, factor = 1, locked = [] } = spec;
  const names = Object.values(parameters).filter(Boolean);
  const at = { x: spec.x, y: spec.y ?? level(u, type, place) };
  const [x, y] = [u.valToPos(at.x, "x"), u.valToPos(at.y, "y")];
  if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
  const { width, height } = sizeOf(u);
  const clip = (value, most) => Math.min(Math.max(value, EDGE), most - EDGE);
  const says = names.map((name) => `${name} = ${rows.get(name)?.value ?? "?"}`).join(", ");
  const isFixed = names.every((name) => locked.includes(name));
  const colour = colourOf(view.link.state.components, component.name);
  const edits = (start, to) => {
    const wanted = [];
    if (type === "flank") {
      const width = Math.abs(to.x - (top?.x ?? 0)) / factor;
      wanted.push([parameters.width, Math.max(width, TINY * Math.abs(start(parameters.width)))]);
    } else {
      // What is moved along one axis alone keeps the other value to its last digit.
      const [dx, dy] = [to.isAcross ? to.x - at.x : 0, to.isUp ? (to.y - at.y) / factor : 0];
      if (parameters.x) wanted.push([parameters.x, start(parameters.x) + dx]);
      if (parameters.y) wanted.push([parameters.y, start(parameters.y) + dy]);
    }
    return wanted;
  };
  return {
    id: `${component.name} ${type} ${names.join(" ")}`,
    label: `${component.name} ${type}: ${says}`,
    kind: type,
    colour,
    isFixed,
    x: clip(x, width),
    y: clip(y, height),
    begin: () => drag(view, u, rows, { x, y }, edits, locked),
  };
}

// Handles of times have no height of their own: each kind, and each law, gets one.
function level(u, type, place) {
  const { min, max } = u.scales.y;
  const share = { t0: 0.93, tau: 0.8, sd: 0.67 }[type] ?? 0.5;
  return min + (share - 0.07 * (place % 7)) * (max - min);
}

// What follows the pointer, from the values that hold when the drag begins.
function drag(view, u, rows, pixel, edits, locked) {
  const start = (name) => rows.get(name)?.value ?? 0;
  return (dx, dy, phase, event) => {
    const to = { x: u.posToVal(pixel.x + dx, "x"), y: u.posToVal(pixel.y + dy, "y") };
    [to.isAcross, to.isUp] = [dx !== 0, dy !== 0];
    const changes = [];
    for (const [name, value] of edits(start, to)) {
      const row = rows.get(name);
      if (!row || !Number.isFinite(value)) continue;
      if (locked.includes(name)) {
        if (row.expr) view.tools.say(`${name} follows ${row.expr}.`);
        continue;
      }
      const inside = Math.min(Math.max(value, row.min ?? -Infinity), row.max ?? Infinity);
      changes.push({ name, field: "value", value: inside });
    }
    if (changes.length) view.link.sendStep({ do: "set", edits: changes, drag: phase }, event.timeStamp);
  };
}
