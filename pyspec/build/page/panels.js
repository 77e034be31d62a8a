// Findings, models side by side, history, and what the compiler makes of the model.

import { h, digits } from "./dom.js";

export function findings(link, lead) {
  const list = h("ul");
  const title = h("h2", {}, "Findings");
  const element = h("section", { class: "findings", "aria-label": "Findings" }, title, list);
  link.on(["findings"], () => {
    const found = link.state.findings ?? [];
    title.textContent = found.length ? `Findings (${found.length})` : "No findings";
    list.replaceChildren(
      ...found.map((finding) => {
        const kind = ["FAILED", "WRONG"].includes(finding.severity) ? "wrong" : "doubt";
        const act = () => finding.parameters?.[0] && lead(finding.parameters[0]);
        return h("li", {}, h("button", { type: "button", class: kind, onclick: act, title: finding.kind }, finding.text));
      }),
    );
  });
  return element;
}

export function models(link) {
  const body = h("tbody");
  const name = h("input", { type: "text", placeholder: "name", "aria-label": "name of a new model" });
  const make = (copy) => {
    const all = link.state.models?.all ?? [];
    const used = new Set(all.map((model) => model.name));
    let next = name.value.trim();
    for (let i = 2; !next; i++) if (!used.has(`model_${i}`)) next = `model_${i}`;
    const command = { do: "model_new", name: next };
    if (copy) command.copy_of = link.state.models?.chosen;
    name.value = "";
    link.ask(command);
  };
  name.addEventListener("keydown", (event) => event.key === "Enter" && make(true));
  const copy = h("button", { type: "button", onclick: () => make(true) }, "copy this model");
  const empty = h("button", { type: "button", onclick: () => make(false) }, "new, empty");
  const heads = ["model", "χ² red.", "BIC", "free", "findings", ""];
  const table = h("table", { class: "list" }, h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", {}, text)))), body);
  link.on(["models"], () => {
    const { all = [], chosen } = link.state.models ?? {};
    const fitted = all.filter((model) => model.bic !== null && model.bic !== undefined);
    // Fits of different data cannot be compared.
    const bics = fitted.every((model) => model.n_data === fitted[0].n_data) ? fitted.map((model) => model.bic) : [];
    const best = Math.min(...bics);
    body.replaceChildren(
      ...all.map((model) => {
        const pick = () => link.ask({ do: "model_choose", name: model.name });
        const drop = () => link.ask({ do: "model_remove", name: model.name });
        const bic = digits(model.bic, 7);
        const more = bics.length > 1 && bic ? (model.bic === best ? " best" : ` +${digits(model.bic - best, 3)}`) : "";
        return h(
          "tr",
          { class: model.name === chosen ? "chosen" : "" },
          h("td", {}, h("button", { type: "button", onclick: pick, "aria-pressed": String(model.name === chosen) }, model.name)),
          h("td", {}, digits(model.redchi, 5)),
          h("td", {}, bic, h("small", {}, more)),
          h("td", {}, String(model.n_free ?? "")),
          h("td", {}, String(model.findings ?? "")),
          h("td", {}, all.length > 1 ? h("button", { type: "button", class: "quiet", onclick: drop, "aria-label": `Remove ${model.name}`, title: "Remove" }, "×") : ""),
        );
      }),
    );
  });
  return h("div", { class: "models" }, table, h("div", { class: "adders" }, name, copy, empty));
}

export function history(link) {
  const list = h("ol", { class: "steps" });
  link.on(["history"], () => {
    const { steps = [], at = 0 } = link.state.history ?? {};
    const items = steps.map((step, i) => {
      const place = step.step ?? i;
      const kind = place === at ? "now" : place > at ? "later" : "";
      const go = () => link.ask({ do: "goto", step: place });
      return h("li", { class: kind }, h("button", { type: "button", onclick: go }, step.label));
    });
    list.replaceChildren(...items.reverse());
  });
  return h("div", { class: "history" }, h("h4", { class: "hint" }, "History: a click goes back, or forward again"), list);
}

export function inspect(link) {
  const text = h("pre", { tabIndex: 0 });
  const kinds = ["graph", "plan", "columns"];
  const select = h("select", { "aria-label": "what to inspect" }, ...kinds.map((kind) => h("option", { value: kind }, kind)));
  const show = async () => {
    const answer = await link.ask({ do: "get", what: "inspect" });
    if (answer.ok) text.textContent = answer[select.value] ?? "";
  };
  select.addEventListener("change", show);
  const button = h("button", { type: "button", onclick: show }, "update");
  return { element: h("div", {}, h("div", { class: "adders" }, select, button), text), show };
}
