// What the pointer does on the plots, the cursor, and ranges: shared by all views.

export class Tools {
  constructor(link, axes, say) {
    Object.assign(this, { link, axes, say, kind: "pick", component: "GLP", views: [] });
    this.at = { energy: 0, time: 0 };
    this.listeners = [];
    link.on(["cursor"], () => this.follow());
  }

  choose(kind) {
    this.kind = kind;
    for (const tell of this.listeners) tell();
  }

  // Takes the cursor of the session, unless the pointer leads it.
  follow() {
    const { cursor } = this.link.state;
    if (this.isLed || !cursor) return;
    for (const name of ["energy", "time"]) {
      const axis = this.axes[name];
      if (axis.length) this.at[name] = axis[this.axes.index(name, cursor[name] ?? 0)] ?? axis[0];
    }
    this.overlay();
  }

  overlay() {
    this.views[0]?.place();
    for (const view of this.views.slice(1)) view.overlay();
  }

  moveTo(values, isEnd) {
    this.isLed = !isEnd;
    const command = { do: "cursor" };
    let isNew = false;
    for (const [name, value] of Object.entries(values)) {
      if (!this.axes[name].length) continue;
      const at = this.axes.nearest(name, value);
      isNew ||= this.axes[name][at] !== this.at[name];
      this.at[name] = this.axes[name][at];
      command[name] = this.axes.index(name, at);
    }
    if (!isNew && !isEnd) return;
    this.overlay();
    this.link.sendStep(command);
  }

  step(name, by) {
    const axis = this.axes[name];
    if (!axis.length) return;
    const now = this.axes.nearest(name, this.at[name]);
    const next = Math.min(Math.max(now + by, 0), axis.length - 1);
    this.moveTo({ [name]: axis[next] }, true);
  }

  // Arrow keys on a plot. `along` is its axis; a map takes both.
  key(event, along = null) {
    const size = event.shiftKey ? 10 : 1;
    const isAcross = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const isUp = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (!isAcross && !isUp) return;
    event.preventDefault();
    event.stopPropagation();
    let sign = event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : -1;
    const name = isAcross ? along ?? "energy" : along === "time" ? "energy" : "time";
    if (name === "energy" && this.axes.isReversed.energy && isAcross) sign = -sign;
    this.step(name, sign * size);
  }

  range(kind, energy, time) {
    if (kind === "window") {
      const command = { do: "window" };
      if (energy) command.energy = energy;
      if (time) command.time = time;
      this.link.ask(command);
      return;
    }
    const [low, high] = energy ?? time;
    this.link.ask({ do: "exclude", axis: energy ? "energy" : "time", low, high });
  }

  // A click with the tool that excludes takes a range back.
  include(place) {
    const range = (this.link.state.excluded ?? []).find(({ axis, low, high }) => low <= place[axis] && place[axis] <= high);
    if (range) this.link.ask({ do: "include", ...range });
  }

  // A hump between two energies becomes a component: its height is what the model lacks there.
  async hump([low, high], { x, data, sum }) {
    let [most, place] = [-Infinity, 0.5 * (low + high)];
    const ground = Math.min(valueAt(x, data, low), valueAt(x, data, high));
    for (let i = 0; i < x.length; i++) {
      if (x[i] < low || x[i] > high) continue;
      const value = data[i] - (sum ? sum[i] : ground);
      if (value > most) [most, place] = [value, x[i]];
    }
    const height = most > 0 ? most : Math.max(...data) / 10;
    const at = { energy: place, height, width: (high - low) / 2 };
    await this.link.ask({ do: "add", component: this.component, at });
  }

  // Adds a component without a place of its own: at the cursor.
  add(name) {
    this.link.ask({ do: "add", component: name, at: { energy: this.at.energy } });
  }
}

function valueAt(x, values, place) {
  let nearest = 0;
  for (let i = 1; i < x.length; i++) {
    if (Math.abs(x[i] - place) < Math.abs(x[nearest] - place)) nearest = i;
  }
  return values[nearest];
}
