// Components and laws to choose from, each with a picture of its curve and its formula.

import { h } from "./dom.js";
import { card } from "./cards.js";
import { closeMenu, showMenu } from "./menu.js";

// Opens the chooser below `anchor` for functions of energy or time; `take(item)` gets what is chosen.
export function choose(anchor, library, kinds, isTrace, take) {
  const search = h("input", { type: "text", placeholder: "find…", "aria-label": "find a function" });
  const groups = h("div");
  const fill = () => {
    const wanted = search.value.toLowerCase();
    const has = (item) => `${item.name} ${item.formula}`.toLowerCase().includes(wanted);
    groups.replaceChildren(
      ...kinds.flatMap((where) => library.map((one) => ({ ...one, where }))).flatMap(({ group, items, where }) => {
        const some = items.filter((item) => item.where === where && has(item));
        const title = where === "time" && !isTrace ? `${group}: each with a free spectrum` : group;
        return some.length ? [h("h4", {}, title), h("div", { class: "cards" }, ...some.map((item) => card(item, act)))] : [];
      }),
    );
  };
  const act = (item) => {
    closeMenu();
    take(item);
  };
  search.addEventListener("input", fill);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // else the button that gets the focus back is pressed
    groups.querySelector("button")?.click();
  });
  fill();
  showMenu(anchor, isTrace ? "Add a law" : "Add a component", [search, groups]);
}
