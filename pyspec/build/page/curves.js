// The spectrum and the trace at the cursor: data, sum, components and residual, with handles.

import { h, digits } from "./dom.js";
import { FIT, colourOf } from "./colours.js";
import { Handles, Marks, axis, delayAxis, delays, follow, labelOf, plot, replace, sizeOf, theme, zoomable } from "./plots.js";
import { handlesOf } from "./handles.js";

const GROUNDS = ["BACKGROUND", "SPECTRUM_FED", "ROW_FED"]; // kinds that peaks stand on
const STRIP = 0.24; // of the height belongs to the residual, below the curves

export class Curves {
  // `along` is the axis of the curves, "energy" or "time".
  constructor(along, link, axes, tools) {
    Object.assign(this, { along, link, axes, tools, plot: null, names: "", zoom: null, drawn: null });
    this.isLog = false;
    this.marks = new Marks();
    this.handles = new Handles();
    this.line = h("div", { class: "cursor energy passive" });
    this.host = h("div", { class: "canvas" });
    this.title = h("h2", {}, along === "energy" ? "Spectrum" : "Trace");
    this.place = h("span", { class: "muted" });
    this.legend = h("div", { class: "legend" });
    this.head = h("header", {}, this.title, this.place, this.legend);
    this.frame = along === "energy" ? "spectrum" : "trace";
    this.element = h(
      "section",
      { class: `panel ${this.frame}`, "aria-label": along === "energy" ? "Spectrum" : "Trace" },
      this.head,
      this.host,
    );
    link.on([`frame:${this.frame}`], () => this.draw());
    link.on(["window", "excluded", "cursor"], () => this.overlay());
  }

  setLog(isLog) {
    this.isLog = isLog;
    this.names = "";
    this.draw();
  }

  // The curves of the frame in rising order of the axis. Peaks stand on the sum of backgrounds.
  curves() {
    const frame = this.link.frames[this.frame];
    const x = this.axes[this.along];
    if (!frame?.data || frame.data.length !== x.length) return null;
    const rising = (values) => this.axes.rising(this.along, values);
    const listed = this.link.state.components ?? [];
    const ground = new Float32Array(x.length);
    const parts = [];
    for (const [key, values] of Object.entries(frame)) {
      if (!key.startsWith("component:")) continue;
      const name = key.slice(10);
      const component = listed.find((one) => one.name === name);
      const isGround = GROUNDS.includes(component?.kind);
      const curve = rising(values);
      parts.push({ name, curve, isGround, colour: colourOf(listed, name) });
      if (isGround) for (let i = 0; i < x.length; i++) ground[i] += curve[i];
    }
    for (const part of parts) {
      part.top = part.isGround ? part.curve : part.curve.map((value, i) => value + ground[i]);
    }
    const optional = (name) => (frame[name]?.length ? rising(frame[name]) : null);
    const [data, sum] = [rising(frame.data), listed.length ? optional("sum") : null];
    return {
      x,
      ground,
      parts,
      data,
      sum,
      residual: sum && data.map((value, i) => value - sum[i]),
      low: optional("low"),
      high: optional("high"),
    };
  }

  draw() {
    const now = this.curves();
    if (!now) return;
    this.drawn = now;
    const names = [now.sum && "sum", now.residual && "residual"];
    names.push(...now.parts.map((part) => part.name + part.isGround + part.colour), this.axes.isReversed.energy);
    const isNew = !this.plot || names.join(" ") !== this.names;
    if (isNew) {
      this.names = names.join(" ");
      this.measure(now);
      replace(this, () => this.make(now));
    }
    if (isNew || this.hasBand !== Boolean(now.low)) this.explain(now);
    if (!this.handles.dragged || !this.span) this.measure(now);
    this.plot.made.setData(this.columns(now));
  }

  // The range of the vertical axis. It stays while a handle is dragged.
  measure({ x, data, sum, residual, parts }) {
    let [low, high, most] = [Infinity, -Infinity, 0];
    const [first, last] = this.zoom ?? [x[0], x[x.length - 1]];
    for (let i = 0; i < x.length; i++) {
      if (x[i] < first || x[i] > last) continue;
      const value = data[i];
      if (value < low) low = value;
      if (value > high) high = value;
      if (sum && sum[i] < low) low = sum[i];
      if (sum && sum[i] > high) high = sum[i];
      for (const { top } of parts) if (top[i] < low) low = top[i];
      if (residual && Math.abs(residual[i]) > most) most = Math.abs(residual[i]);
    }
    if (!(low < high)) [low, high] = Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1];
    const height = high - low;
    const strip = residual ? STRIP : 0;
    const bottom = low - 0.04 * height;
    const top = high + 0.08 * height;
    this.floor = bottom;
    this.span = [bottom - ((top - bottom) * strip) / (1 - strip), top];
    most = most || 1;
    this.reach = [-1.15 * most, 1.15 * most * (2 / strip - 1)];
  }

  columns(now) {
    const columns = [now.x];
    // A band that comes and goes leaves the plot as it is: a new one would end a drag.
    if (now.sum) columns.push(now.low ?? this.gap(now.x.length), now.high ?? this.gap(now.x.length));
    if (this.hasGround) columns.push(now.ground);
    for (const part of now.parts) columns.push(part.top);
    columns.push(now.data);
    if (now.sum) columns.push(now.sum);
    if (now.residual) columns.push(now.residual, this.zero(now.x.length));
    return columns;
  }

  zero(length) {
    if (this.zeros?.length !== length) this.zeros = new Float32Array(length);
    return this.zeros;
  }

  gap(length) {
    if (this.gaps?.length !== length) this.gaps = new Array(length).fill(null);
    return this.gaps;
  }

  make(now) {
    const file = this.link.state.file ?? {};
    const [series, bands] = [[{}], []];
    const add = (more) => series.push({ points: { show: false }, spanGaps: false, ...more });
    const none = () => null;
    if (now.sum) {
      add({ paths: none });
      add({ paths: none });
      bands.push({ series: [2, 1], fill: `${FIT}30` });
      // A band needs the paths of its two curves.
      series[1].paths = series[2].paths = undefined;
      series[1].width = series[2].width = 0;
      series[1].stroke = series[2].stroke = `${FIT}60`;
    }
    this.hasGround = now.parts.some((part) => part.isGround);
    let floor = 0;
    if (this.hasGround) {
      add({ stroke: () => theme.muted, width: 1, fill: () => `${theme.muted}22`, fillTo: () => this.floor });
      floor = series.length - 1;
    }
    for (const part of now.parts) {
      const hasBand = floor && !part.isGround;
      add({ stroke: part.colour, width: 1.5, dash: part.isGround ? [5, 3] : undefined });
      if (hasBand) bands.push({ series: [series.length - 1, floor], fill: `${part.colour}30` });
      else if (!part.isGround && this.along === "energy") {
        Object.assign(series.at(-1), { fill: `${part.colour}30`, fillTo: () => 0 });
      }
    }
    const size = now.x.length > 600 ? 3 : 4;
    add({ paths: none, points: { show: true, size, width: 0, fill: () => theme.data, stroke: () => theme.data } });
    if (now.sum) add({ stroke: FIT, width: 2 });
    if (now.residual) {
      add({ scale: "r", stroke: () => theme.data, width: 1 });
      add({ scale: "r", stroke: () => theme.muted, width: 0.7, dash: [3, 3] });
    }
    const isEnergy = this.along === "energy";
    const range = () => this.zoom ?? this.axes.ends(this.along);
    const scale = isEnergy ? { dir: this.axes.isReversed.energy ? -1 : 1 } : delays(this.isLog, now.x);
    const options = {
      scales: {
        x: { time: false, range, ...scale },
        y: { range: () => this.span },
        r: { range: () => this.reach },
      },
      series,
      bands,
      axes: [
        delayAxis(this.isLog, "x", labelOf(file, this.along), 2),
        axis("y", labelOf(file, "data"), 3, aboveStrip(this)),
      ],
      hooks: {
        draw: [() => this.overlay()],
        setSize: [() => requestAnimationFrame(() => this.overlay())],
      },
    };
    const made = plot(this.host, options, this.columns(now));
    const over = made.made.over;
    over.tabIndex = 0;
    over.setAttribute("aria-label", `${isEnergy ? "Spectrum" : "Trace"}: the arrow keys move the cursor`);
    over.append(this.marks.layer, this.line, this.handles.layer);
    over.addEventListener("keydown", (event) => this.tools.key(event, this.along));
    follow(over, (x, y, event) => this.begin(x, y, event));
    zoomable(this, over, () => this.axes.ends(this.along));
    return made;
  }

  explain(now) {
    const entry = (name, colour, kind = "line") =>
      h("span", {}, h("i", { class: kind, style: `--colour: ${colour}` }), name);
    const entries = [entry("data", "var(--data)", "dots")];
    if (now.sum) entries.push(entry(this.along === "energy" ? "sum" : "model", FIT));
    const isNarrow = this.along === "time" && this.axes.energy.length > 1;
    for (const part of isNarrow ? [] : now.parts) entries.push(entry(part.name, part.colour));
    this.hasBand = Boolean(now.low);
    if (this.hasBand) entries.push(entry("1σ band", `${FIT}60`, "area"));
    this.legend.replaceChildren(...entries);
  }

  // Without a handle under the pointer: a click moves the cursor, a drag marks a range; in the
  // spectrum a drag across a hump adds a component there.
  begin(x, y, event) {
    const u = this.plot.made;
    const kind = event.shiftKey ? "window" : event.altKey ? "exclude" : this.tools.kind;
    const canAdd = kind === "pick" && this.along === "energy";
    let isFar = false;
    return (px, py, isEnd) => {
      isFar ||= Math.abs(px - x) > 5;
      const isBand = isFar && (canAdd || kind !== "pick");
      this.band = isBand && !isEnd ? { class: `band ${canAdd ? "add" : kind}`, left: x, right: px } : null;
      if (kind === "pick" && (!canAdd || (isEnd && !isFar))) {
        this.tools.moveTo({ [this.along]: u.posToVal(px, "x") }, isEnd);
      }
      this.overlay();
      if (isEnd && !isFar && kind === "exclude") this.tools.include({ [this.along]: u.posToVal(px, "x") });
      if (!isEnd || !isBand) return;
      const ends = [u.posToVal(x, "x"), u.posToVal(px, "x")].sort((a, b) => a - b);
      if (canAdd) this.tools.hump(ends, this.drawn);
      else this.tools.range(kind, this.along === "energy" ? ends : null, this.along === "time" ? ends : null);
    };
  }

  overlay() {
    if (!this.plot || !this.drawn) return;
    const u = this.plot.made;
    const { width, height } = sizeOf(u);
    const across = this.along === "energy" ? "time" : "energy";
    const at = this.tools.at;
    const hasOther = this.axes[across].length > 1;
    const place = hasOther ? `at ${across} ${digits(at[across], 5)} ${this.link.state.file?.units?.[across] ?? ""}` : "";
    if (this.place.textContent !== place) this.place.textContent = place; // an equal text would be laid out again
    this.line.style.transform = `translateX(${u.valToPos(at[this.along], "x")}px)`;
    const boxes = [];
    const { window, excluded } = this.link.state;
    const ends = window?.[this.along];
    const pixel = (value) => u.valToPos(value, "x");
    if (ends) {
      const [a, b] = ends.map(pixel).sort((one, other) => one - other);
      boxes.push({ class: "out", left: 0, right: a }, { class: "out", left: b, right: width });
    }
    for (const { axis: name, low, high } of excluded ?? []) {
      if (name === this.along) boxes.push({ class: "out", left: pixel(low), right: pixel(high) });
    }
    if (this.band) boxes.push(this.band);
    this.marks.show(boxes, width, height);
    this.handles.show(handlesOf(this, u));
  }
}

// Ticks of the curves do not go on beside the strip of the residual.
function aboveStrip(view) {
  const filter = (_, splits) => splits.map((value) => (value < view.floor ? null : value));
  const { stroke } = axis("y", "", 3).ticks;
  return { filter, ticks: { stroke, width: 1, size: 4, filter } };
}
