// The fit window and the excluded ranges as numbers, for those who do not draw them.

import { h, digits, number } from "./dom.js";
import { closeMenu, showMenu } from "./menu.js";

export function rangesMenu(anchor, link, axes) {
  const { window, excluded = [] } = link.state;
  const has = (name) => axes[name].length > 1;
  const again = () => setTimeout(() => anchor.isConnected && rangesMenu(anchor, link, axes), 150);
  const content = [];
  for (const name of ["energy", "time"].filter(has)) {
    const ends = window?.[name] ?? ["", ""];
    content.push(
      line(`window ${name}`, ends, (range) => link.ask({ do: "window", [name]: range })),
    );
  }
  for (const range of excluded) {
    const drop = () => link.ask({ do: "include", ...range }).then(again);
    const text = `${range.axis} ${digits(range.low, 5)} to ${digits(range.high, 5)}`;
    content.push(
      h("div", { class: "range" }, h("span", {}, `excluded ${text}`), h("button", { type: "button", onclick: drop }, "use it again")),
    );
  }
  for (const axis of ["energy", "time"].filter(has)) {
    content.push(
      line(`exclude ${axis}`, ["", ""], (range) => {
        if (range) return link.ask({ do: "exclude", axis, low: range[0], high: range[1] }).then(again);
        return null;
      }),
    );
  }
  const clear = () => {
    closeMenu();
    for (const range of excluded) link.ask({ do: "include", ...range });
    if (window?.energy || window?.time) link.ask({ do: "window", energy: null, time: null });
  };
  content.push(h("button", { type: "button", class: "choice", onclick: clear }, "Use all data"));
  showMenu(anchor, "Ranges", content);
}

// Two numbers that are sent with Enter, or when both are there and the second is left.
function line(label, ends, send) {
  const inputs = ends.map((value, i) =>
    h("input", { type: "text", class: "number", "aria-label": `${label} ${i ? "to" : "from"}`, value: value === "" ? "" : digits(value, 7) }),
  );
  let sent = inputs.map((input) => input.value).join(" ");
  const take = () => {
    const values = inputs.map((input) => number(input.value));
    const text = inputs.map((input) => input.value).join(" ");
    if (text === sent) return;
    sent = text;
    if (values.every((value) => value === null)) send(null);
    else if (values.every((value) => value !== null && Number.isFinite(value))) send(values.sort((a, b) => a - b));
  };
  for (const input of inputs) input.addEventListener("keydown", (event) => event.key === "Enter" && take());
  inputs[1].addEventListener("change", take);
  return h("div", { class: "range" }, h("span", {}, label), inputs[0], "to", inputs[1]);
}
