// What the three plots share: axes, colours, marks over the curves, and handles to drag.

import { uPlot } from "./vendor.js";
import { h, digits } from "./dom.js";

// As the pointer moves; other events of it wait for the next picture of the display.
const MOVE = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
const KEY_PAUSE = 500; // ms without a key after which a step of the keyboard is over

export const theme = { ink: "#222", muted: "#5f6871", grid: "#e3e6ea", data: "#3c4650" };

// Takes the colours of the style sheet, which differ between light and dark.
export function readTheme(root) {
  const style = getComputedStyle(root);
  for (const name of Object.keys(theme)) theme[name] = style.getPropertyValue(`--${name}`).trim();
}

export function axis(scale, label, side, more = {}) {
  return {
    scale,
    label,
    side,
    labelSize: 16,
    labelGap: 0,
    size: side % 2 ? 52 : 28,
    gap: 3,
    font: "11px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    stroke: () => theme.ink,
    grid: { stroke: () => theme.grid, width: 1 },
    ticks: { stroke: () => theme.muted, width: 1, size: 4 },
    values: (_, splits) => splits.map((value) => (value === null ? "" : digits(value, 5))),
    ...more,
  };
}

// What an axis of the file is called, with its unit.
export function labelOf(file, name) {
  const [label, unit] = [file.labels?.[name] || name, file.units?.[name]];
  return unit && !label.includes(`(${unit})`) ? `${label} (${unit})` : label;
}

// A scale of delays: linear about zero, logarithmic far from it.
export function delays(isLog, time) {
  if (!isLog) return { distr: 1 };
  const steps = [];
  for (let i = 1; i < time.length; i++) steps.push(time[i] - time[i - 1]);
  steps.sort((a, b) => a - b);
  return { distr: 4, asinh: 3 * (steps[Math.floor(steps.length / 10)] || 1) };
}

// The axis of delays: ticks at 0 and at 1, 2, 5 of each decade, as far as there is room for them.
export function delayAxis(isLog, scale, label, side) {
  if (!isLog) return axis(scale, label, side);
  const splits = (u, _, low, high) => {
    const most = Math.max(Math.abs(low), Math.abs(high));
    const sizes = [];
    for (let decade = Math.floor(Math.log10(most)); 10 ** decade > u.scales[scale].asinh / 4; decade--) {
      for (const digit of [1, 5, 2]) sizes.push(Number(`${digit}e${decade}`));
    }
    // Round ones first: decades, then their halves.
    sizes.sort((a, b) => rank(a) - rank(b) || b - a);
    const [room, kept] = [side % 2 ? 24 : 42, []];
    for (const value of [0, ...sizes, ...sizes.map((size) => -size)]) {
      if (value < low || value > high) continue;
      const place = u.valToPos(value, scale);
      if (kept.every((one) => Math.abs(u.valToPos(one, scale) - place) >= room)) kept.push(value);
    }
    return kept.sort((a, b) => a - b);
  };
  return axis(scale, label, side, { splits, filter: (_, values) => values });
}

function rank(size) {
  return "152".indexOf(size.toExponential()[0]);
}

// The size of the area that is drawn on, in pixels of the page: known without a layout of the page.
export function sizeOf(u) {
  return { width: u.bbox.width / devicePixelRatio, height: u.bbox.height / devicePixelRatio };
}

// A plot that fills its element. `options` are uPlot's; the range of each scale is a function.
export function plot(host, options, data) {
  const size = () => ({
    width: Math.max(120, host.clientWidth),
    height: Math.max(90, host.clientHeight),
  });
  const made = new uPlot(
    {
      ...size(),
      padding: [6, 8, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      ...options,
    },
    data,
    host,
  );
  const watch = new ResizeObserver(() => {
    const now = size();
    if (now.width !== made.width || now.height !== made.height) made.setSize(now);
  });
  watch.observe(host);
  return { made, end: () => (watch.disconnect(), made.destroy()) };
}

// Makes a plot of a view anew; what had the focus in the old one, has it in the new one.
export function replace(view, make) {
  const focused = view.plot?.made.over.contains(document.activeElement) ? document.activeElement : null;
  const isOver = focused === view.plot?.made.over;
  view.plot?.end();
  view.plot = make();
  if (view.plot) (isOver ? view.plot.made.over : focused)?.focus({ preventScroll: true });
}

// Strips over a plot: ranges that are left out, and the band that the pointer draws.
export class Marks {
  constructor() {
    this.layer = h("div", { class: "marks" });
  }

  // Each of `boxes`: {class, left, right, top, bottom} in pixels, clipped to the plot.
  show(boxes, width, height) {
    const layer = this.layer;
    while (layer.children.length < boxes.length) layer.append(h("div"));
    while (layer.children.length > boxes.length) layer.lastChild.remove();
    boxes.forEach((box, i) => {
      const clip = (value, most) => Math.min(Math.max(value, 0), most);
      const [left, right] = [clip(box.left ?? 0, width), clip(box.right ?? width, width)];
      const [top, bottom] = [clip(box.top ?? 0, height), clip(box.bottom ?? height, height)];
      const style = layer.children[i].style;
      layer.children[i].className = box.class;
      style.left = `${Math.min(left, right)}px`;
      style.width = `${Math.abs(right - left)}px`;
      style.top = `${Math.min(top, bottom)}px`;
      style.height = `${Math.abs(bottom - top)}px`;
    });
  }
}

// Buttons over a plot. Each is dragged with the pointer or moved with the arrow keys.
export class Handles {
  constructor() {
    this.layer = h("div", { class: "handles" });
    this.buttons = new Map();
    this.dragged = null;
  }

  // Each of `handles`: {id, label, x, y, colour, kind, isFixed, begin} with x, y in pixels.
  // `begin()` gives the function that takes dx, dy in pixels, and how the drag ends.
  show(handles) {
    const wanted = new Set(handles.map((handle) => handle.id));
    for (const [id, button] of this.buttons) {
      if (wanted.has(id) || this.dragged === id) continue;
      button.remove();
      this.buttons.delete(id);
    }
    for (const handle of handles) {
      const button = this.buttons.get(handle.id) ?? this.add(handle.id);
      button.spec = handle;
      button.className = `handle ${handle.kind}${handle.isFixed ? " fixed" : ""}`;
      button.title = handle.label;
      button.setAttribute("aria-label", handle.label);
      button.style.transform = `translate(${handle.x}px, ${handle.y}px)`;
      button.style.setProperty("--colour", handle.colour);
    }
  }

  add(id) {
    const button = h("button", { type: "button" });
    button.addEventListener("pointerdown", (event) => this.press(button, id, event));
    button.addEventListener("keydown", (event) => this.key(button, id, event));
    this.buttons.set(id, button);
    this.layer.append(button);
    return button;
  }

  press(button, id, event) {
    if (event.button !== 0) return;
    event.stopPropagation();
    event.preventDefault();
    button.focus({ preventScroll: true });
    button.setPointerCapture(event.pointerId);
    const action = button.spec.begin();
    if (!action) return;
    this.dragged = id;
    const [x, y] = [event.clientX, event.clientY];
    let isMoved = false;
    const move = (now) => {
      isMoved = true;
      action(now.clientX - x, now.clientY - y, true, now);
    };
    const end = (now) => {
      button.removeEventListener(MOVE, move);
      button.removeEventListener("pointerup", end);
      button.removeEventListener("pointercancel", end);
      this.dragged = null;
      if (isMoved) action(now.clientX - x, now.clientY - y, "end", now);
    };
    button.addEventListener(MOVE, move);
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }

  key(button, id, event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const size = event.shiftKey ? 10 : event.altKey ? 0.1 : 1;
    if (!button.keys) {
      const action = button.spec.begin();
      if (!action) return;
      button.keys = { action, x: 0, y: 0, timer: 0 };
      this.dragged = id;
    }
    // Presses that follow each other are one step of the history.
    clearTimeout(button.keys.timer);
    button.keys.timer = setTimeout(() => {
      const { action, x, y } = button.keys;
      button.keys = null;
      this.dragged = null;
      action(x, y, "end", event);
    }, KEY_PAUSE);
    button.keys.x += size * step[0];
    button.keys.y += size * step[1];
    button.keys.action(button.keys.x, button.keys.y, true, event);
  }
}

// Follows the pointer over a plot: `begin(x, y, event)` gives what takes each further place, or
// nothing. Places are pixels from the corner of the plot.
export function follow(over, begin) {
  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    over.focus({ preventScroll: true });
    const box = over.getBoundingClientRect();
    const place = (now) => [now.clientX - box.left, now.clientY - box.top];
    const action = begin(...place(event), event);
    if (!action) return;
    over.setPointerCapture(event.pointerId);
    const move = (now) => action(...place(now), false, now);
    const end = (now) => {
      over.removeEventListener(MOVE, move);
      over.removeEventListener("pointerup", end);
      over.removeEventListener("pointercancel", end);
      action(...place(now), true, now);
    };
    over.addEventListener(MOVE, move);
    over.addEventListener("pointerup", end);
    over.addEventListener("pointercancel", end);
  });
}

// Zooms the horizontal axis with the wheel; a double click shows all.
export function zoomable(view, over, full) {
  over.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const u = view.plot.made;
      const centre = u.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
      const [low, high] = view.zoom ?? full();
      const factor = event.deltaY > 0 ? 1.25 : 0.8;
      const next = [centre + (low - centre) * factor, centre + (high - centre) * factor];
      const [least, most] = full();
      view.zoom = next[1] - next[0] >= most - least ? null : next;
      view.draw();
    },
    { passive: false },
  );
  over.addEventListener("dblclick", () => {
    view.zoom = null;
    view.draw();
  });
}
