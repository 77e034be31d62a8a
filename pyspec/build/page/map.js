// The map: data, fit or residual over time and energy, with the two cursors.

import { h, digits, number } from "./dom.js";
import { ONE_SIDED, TWO_SIDED, rangeOf } from "./colours.js";
import { Marks, axis, delayAxis, delays, follow, labelOf, plot, replace, sizeOf } from "./plots.js";

const SIGNED = 0.15; // below this share of the highest value the data count as two-sided

export class MapView {
  constructor(link, axes, tools) {
    Object.assign(this, { link, axes, tools, plot: null, image: null, shown: "data" });
    this.limits = null; // [low, high] that a person has typed
    this.isLog = false;
    this.marks = new Marks();
    this.lines = { energy: this.cursor("energy"), time: this.cursor("time") };
    this.host = h("div", { class: "canvas" });
    this.kind = h(
      "select",
      { title: "What the map shows", onchange: () => this.choose(this.kind.value) },
      ...["data", "fit", "residual"].map((name) => h("option", { value: name }, name)),
    );
    this.low = this.limit("lowest colour");
    this.high = this.limit("highest colour");
    this.bar = h("canvas", { class: "bar", width: 64, height: 1 });
    this.log = h("input", { type: "checkbox", onchange: () => this.setLog(this.log.checked) });
    this.element = h(
      "section",
      { class: "panel map", "aria-label": "Map" },
      h(
        "header",
        {},
        h("h2", {}, "Map"),
        this.kind,
        this.low,
        this.bar,
        this.high,
        h("label", { title: "Delays: linear about zero, logarithmic far from it" }, this.log, "log time"),
      ),
      this.host,
    );
    link.on(["frame:data", "frame:map"], () => this.changed());
    link.on(["cursor", "window", "excluded"], () => this.place());
    link.on(["frame:free"], () => this.moved());
  }

  limit(label) {
    const take = () => {
      const values = [number(this.low.value), number(this.high.value)];
      const isRange = values.every((value) => value !== null && Number.isFinite(value));
      this.limits = isRange && values[0] < values[1] ? values : null;
      this.changed();
    };
    return h("input", { class: "limit", type: "text", title: `${label}; empty: automatic`, "aria-label": label, onchange: take });
  }

  cursor(name) {
    const label = `${name} of the ${name === "time" ? "spectrum" : "trace"}`;
    const line = h("div", { class: `cursor ${name}`, tabIndex: 0, role: "slider", "aria-label": label, title: label });
    line.addEventListener("keydown", (event) => {
      const more = name === "energy" ? "ArrowRight" : "ArrowUp";
      const less = name === "energy" ? "ArrowLeft" : "ArrowDown";
      if (event.key !== more && event.key !== less) return;
      event.preventDefault();
      event.stopPropagation();
      const sense = (event.key === more) === (name === "time" || !this.axes.isReversed.energy);
      this.tools.step(name, (sense ? 1 : -1) * (event.shiftKey ? 10 : 1));
    });
    return line;
  }

  choose(name) {
    this.shown = name;
    this.kind.value = name;
    this.limits = null;
    this.link.ask({ do: "view", map: name });
    this.changed();
  }

  setLog(isLog) {
    this.isLog = isLog;
    this.log.checked = isLog;
    this.build();
    this.whenLog?.(isLog);
  }

  build() {
    replace(this, () => this.make());
    this.drawn = null;
    this.changed();
    requestAnimationFrame(() => this.place());
  }

  make() {
    const { energy, time } = this.axes;
    if (energy.length < 2 || time.length < 2) return null;
    const file = this.link.state.file ?? {};
    const options = {
      scales: {
        x: { time: false, dir: this.axes.isReversed.energy ? -1 : 1, range: () => this.axes.ends("energy") },
        y: { ...delays(this.isLog, time), range: () => this.axes.ends("time") },
      },
      series: [{}, { scale: "y", show: true, paths: () => null, points: { show: false } }],
      axes: [
        axis("x", labelOf(file, "energy"), 2, { grid: { show: false } }),
        { ...delayAxis(this.isLog, "y", labelOf(file, "time"), 3), grid: { show: false } },
      ],
      hooks: {
        drawClear: [(u) => this.paint(u)],
        setSize: [() => requestAnimationFrame(() => this.place())],
      },
    };
    const made = plot(this.host, options, [this.axes.ends("energy"), this.axes.ends("time")]);
    const over = made.made.over;
    over.tabIndex = 0;
    over.setAttribute("aria-label", "Map: the arrow keys move both cursors");
    over.append(this.marks.layer, this.lines.energy, this.lines.time);
    over.addEventListener("keydown", (event) => this.tools.key(event));
    follow(over, (x, y, event) => this.begin(x, y, event));
    return made;
  }

  begin(x, y, event) {
    const u = this.plot.made;
    const kind = event.shiftKey ? "window" : event.altKey ? "exclude" : this.tools.kind;
    if (kind === "pick") {
      const move = (px, py, isEnd) =>
        this.tools.moveTo({ energy: u.posToVal(px, "x"), time: u.posToVal(py, "y") }, isEnd);
      move(x, y, false);
      return move;
    }
    return (px, py, isEnd) => {
      const isEnergy = Math.abs(px - x) >= Math.abs(py - y);
      const both = kind === "window" && Math.abs(px - x) > 6 && Math.abs(py - y) > 6;
      const box = { class: `band ${kind}` };
      if (both || isEnergy) Object.assign(box, { left: x, right: px });
      if (both || !isEnergy) Object.assign(box, { top: y, bottom: py });
      this.band = isEnd ? null : box;
      this.place();
      if (!isEnd) return;
      const energy = [u.posToVal(x, "x"), u.posToVal(px, "x")].sort((a, b) => a - b);
      const time = [u.posToVal(y, "y"), u.posToVal(py, "y")].sort((a, b) => a - b);
      if (Math.max(Math.abs(px - x), Math.abs(py - y)) < 5) {
        if (kind === "exclude") this.tools.include({ energy: energy[0], time: time[0] });
        return;
      }
      this.tools.range(kind, both || isEnergy ? energy : null, both || !isEnergy ? time : null);
    };
  }

  // The numbers that are shown, and their colours.
  values() {
    const data = this.link.frames.data?.data;
    const fit = this.link.frames.map?.fit;
    if (this.shown === "data" || !fit) return data;
    if (this.shown === "fit") return fit;
    if (this.between?.fit !== fit) {
      const residual = new Float32Array(data.length);
      for (let i = 0; i < data.length; i++) residual[i] = data[i] - fit[i];
      this.between = { fit, residual };
    }
    return this.between.residual;
  }

  changed() {
    const values = this.values();
    if (!values || !this.plot) return;
    if (this.shown === "data" && this.drawn === values && this.limits === this.taken) return;
    Object.assign(this, { drawn: values, taken: this.limits });
    let [low, high] = rangeOf(values);
    if (this.shown === "fit") [low, high] = rangeOf(this.link.frames.data.data);
    let colours = ONE_SIDED;
    if (this.shown === "residual" || (low < 0 && (high <= 0 || -low > SIGNED * high))) {
      high = Math.max(-low, high);
      low = -high;
      colours = TWO_SIDED;
    }
    if (this.limits) [low, high] = this.limits;
    Object.assign(this, { colours, scale: [low, high], image: null });
    for (const [input, value] of [[this.low, low], [this.high, high]]) {
      if (document.activeElement !== input) input.value = digits(value, 3);
    }
    const pen = this.bar.getContext("2d");
    const strip = pen.createImageData(64, 1);
    const pixels = new Uint32Array(strip.data.buffer);
    for (let i = 0; i < 64; i++) pixels[i] = colours[i * 4];
    pen.putImageData(strip, 0, 0);
    this.plot.made.redraw(false, false);
  }

  paint(u) {
    const { left, top, width, height } = u.bbox;
    const [wide, high] = [Math.round(width), Math.round(height)];
    if (wide < 1 || high < 1 || !this.values()) return;
    if (!this.image || this.image.width !== wide || this.image.height !== high) {
      this.image = this.picture(u, wide, high);
    }
    u.ctx.drawImage(this.image, Math.round(left), Math.round(top));
    this.onsets(u);
  }

  // Onsets that differ from energy to energy, as lines.
  onsets(u) {
    const { parameters = [] } = this.link.state;
    const { energy } = this.axes;
    const { ctx } = u;
    for (const [key, values] of Object.entries(this.link.frames.free ?? {})) {
      const row = parameters.find(({ name }) => key === `dispersed:${name}`);
      if (row?.role !== "t0") continue;
      const rising = this.axes.rising("energy", values);
      const path = new Path2D();
      for (let i = 0; i < energy.length; i++) {
        if (Number.isFinite(rising[i])) path.lineTo(u.valToPos(energy[i], "x", true), u.valToPos(rising[i], "y", true));
      }
      ctx.save();
      for (const [colour, width] of [["#fff", 3], ["#222", 1.2]]) {
        Object.assign(ctx, { strokeStyle: colour, lineWidth: width * devicePixelRatio });
        ctx.stroke(path);
      }
      ctx.restore();
    }
  }

  // Onsets that move are drawn again; the picture of the data stays.
  moved() {
    const has = Object.keys(this.link.frames.free ?? {}).some((key) => key.startsWith("dispersed:"));
    if (has || this.hadOnsets) this.plot?.made.redraw(false, false);
    this.hadOnsets = has;
  }

  // One colour per pixel, from the nearest point, so that uneven axes and log time are right and
  // the work depends on the size of the picture alone.
  picture(u, wide, high) {
    const values = this.values();
    const { axes, colours } = this;
    const n = axes.energy.length;
    const ratio = devicePixelRatio;
    const column = new Int32Array(wide);
    for (let i = 0; i < wide; i++) {
      column[i] = axes.index("energy", axes.nearest("energy", u.posToVal((i + 0.5) / ratio, "x")));
    }
    const canvas = h("canvas", { width: wide, height: high });
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const [low, top] = this.scale;
    const factor = 255.99 / (top - low);
    let before = -1;
    for (let j = 0; j < high; j++) {
      const row = axes.index("time", axes.nearest("time", u.posToVal((j + 0.5) / ratio, "y")));
      if (row === before) pixels.copyWithin(j * wide, (j - 1) * wide, j * wide);
      else {
        for (let i = 0; i < wide; i++) {
          const level = (values[row * n + column[i]] - low) * factor;
          // NaN compares false: a masked point stays clear.
          if (level >= 0) pixels[j * wide + i] = colours[level > 255 ? 255 : level | 0];
          else if (level < 0) pixels[j * wide + i] = colours[0];
        }
      }
      before = row;
    }
    pen.putImageData(image, 0, 0);
    return canvas;
  }

  // Cursors and ranges: elements over the picture, which is not drawn again.
  place() {
    if (!this.plot) return;
    const u = this.plot.made;
    const { width, height } = sizeOf(u);
    const at = this.tools.at;
    const x = u.valToPos(at.energy, "x");
    const y = u.valToPos(at.time, "y");
    this.lines.energy.style.transform = `translateX(${x}px)`;
    this.lines.time.style.transform = `translateY(${y}px)`;
    this.lines.energy.setAttribute("aria-valuetext", digits(at.energy));
    this.lines.time.setAttribute("aria-valuetext", digits(at.time));
    const boxes = [];
    const { window, excluded } = this.link.state;
    if (window?.energy || window?.time) {
      const sides = {};
      if (window.energy) [sides.left, sides.right] = window.energy.map((v) => u.valToPos(v, "x"));
      if (window.time) [sides.bottom, sides.top] = window.time.map((v) => u.valToPos(v, "y"));
      boxes.push({ class: "frame", ...sides });
    }
    for (const { axis: name, low, high } of excluded ?? []) {
      if (name === "energy") boxes.push({ class: "out", left: u.valToPos(low, "x"), right: u.valToPos(high, "x") });
      else boxes.push({ class: "out", top: u.valToPos(low, "y"), bottom: u.valToPos(high, "y") });
    }
    if (this.band) boxes.push(this.band);
    this.marks.show(boxes, width, height);
  }
}
