// What a panel shows instead of the curves at the cursor: parameters of the fits of single spectra
// over time, free amplitudes along their axis, and parameters that differ from energy to energy.

import { h, digits } from "./dom.js";
import { axis, delayAxis, delays, follow, labelOf, plot, replace, theme } from "./plots.js";
import { FIT, colourOf } from "./colours.js";

const FREE = { energy: "free spectra", time: "free traces" };

export class Instead {
  // Shows itself in the panel of a view of curves, over its plot.
  constructor(link, axes, tools, view) {
    Object.assign(this, { link, axes, tools, view, along: view.along, plot: null, names: "" });
    this.choice = h("select", { title: "What this panel shows", "aria-label": `what the ${view.frame} shows`, hidden: true, onchange: () => this.draw() });
    this.legend = h("div", { class: "legend", hidden: true });
    this.host = h("div", { class: "canvas instead", hidden: true });
    view.title.after(this.choice);
    view.legend.after(this.legend);
    view.host.after(this.host);
    if (this.along === "time") link.on(["slices"], () => this.fill(true));
    link.on(["frame:free"], () => this.fill(false));
  }

  // What can be chosen: a name → the curves of it, {name, values, errors, colour}.
  found() {
    const { slices, components = [] } = this.link.state;
    const free = this.link.frames.free ?? {};
    const curves = { all: [], one: {} };
    for (const [key, values] of Object.entries(free)) {
      const [kind, name] = key.split(":");
      const owner = components.find((one) => one.parameters.includes(name));
      const curve = { name, x: this.axes[this.along], values, errors: free[`error:${name}`], colour: colourOf(components, owner?.name) };
      if (kind === this.along) curves.all.push(curve);
      else if (kind === "dispersed" && this.along === "energy") curves.one[name] = [curve];
    }
    for (const curve of [...curves.all, ...Object.values(curves.one).flat()]) {
      curve.values = this.axes.rising(this.along, curve.values);
      curve.errors &&= this.axes.rising(this.along, curve.errors);
    }
    if (this.along === "time") {
      for (const [name, { value, stderr }] of Object.entries(slices?.parameters ?? {})) {
        const order = slices.time.map((_, i) => i).sort((a, b) => slices.time[a] - slices.time[b]);
        const pick = (some) => Float64Array.from(order, (i) => some?.[i] ?? NaN);
        curves.one[name] = [{ name, x: pick(slices.time), values: pick(value), errors: pick(stderr), colour: FIT, isPoints: true }];
      }
    }
    return { ...(curves.all.length ? { [FREE[this.along]]: curves.all } : {}), ...curves.one };
  }

  fill(isNew) {
    this.choices = this.found();
    const names = Object.keys(this.choices);
    if (names.join() !== this.names) {
      const before = this.choice.value;
      this.names = names.join();
      const option = (value, text) => h("option", { value }, text);
      this.choice.replaceChildren(option("", "at the cursor"), ...names.map((name) => option(name, name)));
      this.choice.hidden = !names.length;
      this.choice.value = names.includes(before) ? before : "";
    }
    if (isNew && names.length) this.choice.value = names.find((name) => name.includes("x0")) ?? "";
    if (isNew || this.plot || this.choice.value) this.draw();
  }

  draw() {
    const curves = this.choices?.[this.choice.value];
    const isShown = Boolean(curves);
    this.host.hidden = this.legend.hidden = !isShown;
    this.view.host.hidden = this.view.legend.hidden = this.view.place.hidden = isShown;
    replace(this, () => (isShown ? this.make(curves) : null));
    if (!isShown) this.view.draw();
  }

  make(curves) {
    const { x } = curves[0];
    const known = curves.flatMap(({ values }) => Array.from(values).filter(Number.isFinite));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const gap = 0.08 * (high - low) || 0.5;
    const bars = (u) => {
      for (const { values, errors, colour } of curves) errors && drawErrors(u, x, values, errors, colour, low - gap, high + gap);
    };
    const isEnergy = this.along === "energy";
    const scale = isEnergy ? { dir: this.axes.isReversed.energy ? -1 : 1 } : delays(this.view.isLog, x);
    const series = curves.map(({ colour, isPoints }) =>
      isPoints
        ? { stroke: theme.muted, width: 1, points: { show: true, size: 5, fill: colour, stroke: colour } }
        : { stroke: colour, width: 1.8, points: { show: false } },
    );
    const file = this.link.state.file ?? {};
    const options = {
      scales: {
        x: { time: false, range: () => this.axes.ends(this.along), ...scale },
        y: { range: () => [low - gap, high + gap] },
      },
      series: [{}, ...series],
      axes: [delayAxis(this.view.isLog, "x", labelOf(file, this.along), 2), axis("y", this.choice.value, 3)],
      hooks: { draw: [bars] },
    };
    this.legend.replaceChildren(
      ...curves.map(({ name, colour }) => h("span", {}, h("i", { class: "line", style: `--colour: ${colour}` }), name)),
    );
    const made = plot(this.host, options, [x, ...curves.map(({ values }) => values)]);
    const over = made.made.over;
    follow(over, (px) => {
      const move = (at, _, isEnd) => this.tools.moveTo({ [this.along]: made.made.posToVal(at, "x") }, isEnd);
      move(px, 0, false);
      return move;
    });
    this.host.title = curves.map(({ name, errors }) => `${name}${errors ? `, error about ${digits(median(errors), 2)}` : ""}`).join("; ");
    return made;
  }
}

function drawErrors(u, x, values, errors, colour, low, high) {
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.globalAlpha = 0.6;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(values[i] + errors[i])) continue;
    const place = u.valToPos(x[i], "x", true);
    const clip = (level) => u.valToPos(Math.min(Math.max(level, low), high), "y", true);
    ctx.moveTo(place, clip(values[i] - errors[i]));
    ctx.lineTo(place, clip(values[i] + errors[i]));
  }
  ctx.stroke();
  ctx.restore();
}

function median(values) {
  const known = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  return known[known.length >> 1] ?? NaN;
}
