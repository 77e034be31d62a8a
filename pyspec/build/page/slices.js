// What the fits of single spectra gave: one parameter over time, instead of the trace.

import { h, digits } from "./dom.js";
import { axis, delays, follow, labelOf, plot, replace, theme } from "./plots.js";
import { FIT } from "./colours.js";

export class Slices {
  // Shows itself in the panel of the trace, over its plot.
  constructor(link, axes, tools, trace) {
    Object.assign(this, { link, axes, tools, trace, plot: null });
    this.choice = h("select", {
      title: "The trace, or a parameter of the fits of single spectra",
      hidden: true,
      onchange: () => this.draw(),
    });
    this.host = h("div", { class: "canvas slices", hidden: true });
    trace.title.after(this.choice);
    trace.host.after(this.host);
    link.on(["slices"], () => this.taken());
  }

  taken() {
    const { slices } = this.link.state;
    const chosen = this.choice.value;
    const names = Object.keys(slices?.parameters ?? {});
    const option = (value, text) => h("option", { value }, text);
    this.choice.replaceChildren(option("", "at the cursor"), ...names.map((name) => option(name, name)));
    this.choice.hidden = !names.length;
    this.choice.value = names.includes(chosen) ? chosen : names.find((name) => name.includes("x0")) ?? "";
    this.draw();
  }

  draw() {
    const { slices, file } = this.link.state;
    const found = slices?.parameters[this.choice.value];
    this.host.hidden = !found;
    this.trace.host.hidden = Boolean(found);
    this.trace.legend.hidden = Boolean(found);
    replace(this, () => (found ? this.make(slices.time, found, file) : null));
    if (!found) this.trace.draw();
  }

  make(time, { value, stderr }, file) {
    const order = time.map((_, i) => i).sort((a, b) => time[a] - time[b]);
    const pick = (values) => Float64Array.from(order, (i) => values?.[i] ?? NaN);
    const [x, y, error] = [pick(time), pick(value), pick(stderr)];
    const known = y.filter(Number.isFinite);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const gap = 0.08 * (high - low) || 0.5;
    const bars = (u) => {
      const { ctx } = u;
      ctx.save();
      ctx.strokeStyle = FIT;
      ctx.lineWidth = devicePixelRatio;
      ctx.beginPath();
      for (let i = 0; i < x.length; i++) {
        if (!Number.isFinite(y[i] + error[i])) continue;
        const place = u.valToPos(x[i], "x", true);
        const clip = (level) => u.valToPos(Math.min(Math.max(level, low - gap), high + gap), "y", true);
        ctx.moveTo(place, clip(y[i] - error[i]));
        ctx.lineTo(place, clip(y[i] + error[i]));
      }
      ctx.stroke();
      ctx.restore();
    };
    const options = {
      scales: {
        x: { time: false, range: () => this.axes.ends("time"), ...delays(this.trace.isLog, x) },
        y: { range: () => [low - gap, high + gap] },
      },
      series: [{}, { stroke: theme.muted, width: 1, points: { show: true, size: 5, fill: FIT, stroke: FIT } }],
      axes: [axis("x", labelOf(file ?? {}, "time"), 2), axis("y", this.choice.value, 3)],
      hooks: { draw: [bars] },
    };
    const last = error.length ? `, error about ${digits(median(error), 2)}` : "";
    this.host.title = `${this.choice.value} of each spectrum${last}`;
    const made = plot(this.host, options, [x, y]);
    const over = made.made.over;
    follow(over, (px) => {
      const move = (at, _, isEnd) => this.tools.moveTo({ time: made.made.posToVal(at, "x") }, isEnd);
      move(px, 0, false);
      return move;
    });
    return made;
  }
}

function median(values) {
  const known = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  return known[known.length >> 1] ?? NaN;
}
