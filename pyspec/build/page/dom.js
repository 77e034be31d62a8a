// Elements and numbers. Text of the data becomes text, never HTML.

// An element: `h("button", { class: "big", onclick: run, title: "Fit" }, "fit", child)`.
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// The same for pictures.
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, properties);
  element.append(...children);
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (value === false && !(name in element)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !(element instanceof SVGElement)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
    if (name === "class") element.setAttribute("class", value);
  }
}

// A number with some digits, without those that say nothing: 1.25, 0.003, 1.2e-7.
export function digits(value, count = 6) {
  if (value === null || value === undefined) return "";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  const short = Number(value.toPrecision(count));
  const size = Math.abs(short);
  return size !== 0 && (size < 1e-4 || size >= 1e9) ? short.toExponential() : String(short);
}

// What a person types: a decimal comma counts as a point, nothing as no bound.
export function number(text) {
  const plain = text.trim().replace(",", ".").toLowerCase();
  if (plain === "" || plain === "none") return null;
  if (plain === "inf" || plain === "+inf") return Infinity;
  if (plain === "-inf") return -Infinity;
  return Number(plain);
}

// The name of a law without the parameter that it moves: expFun_01.
export function shortName(component) {
  const start = `${component.of}_`;
  return component.of && component.name.startsWith(start) ? component.name.slice(start.length) : component.name;
}
