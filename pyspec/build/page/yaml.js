// The model as YAML: written back by every edit, taken over while a person types.

import { CodeMirror } from "./vendor.js";
import { h } from "./dom.js";

const PAUSE = 350; // ms after the last key before the text is sent

export class Yaml {
  constructor(link) {
    this.link = link;
    this.sent = null;
    this.isOwn = false;
    this.message = h("div", { class: "message well", role: "status" });
    this.element = h("div", { class: "yaml" });
    this.editor = new CodeMirror(this.element, {
      mode: "yaml",
      lineNumbers: true,
      tabSize: 2,
      extraKeys: {
        "Ctrl-Space": (editor) => this.complete(editor),
        "Ctrl-Enter": () => this.send(),
        Tab: (editor) => editor.execCommand("insertSoftTab"),
        // Tab belongs to the text: Escape leaves it.
        Esc: () => this.message.focus(),
      },
      inputStyle: "contenteditable",
    });
    this.editor.getInputField().setAttribute("aria-label", "YAML of the model; Escape leaves the text");
    this.message.tabIndex = -1;
    this.element.append(this.message);
    this.editor.on("change", (_, change) => {
      if (change.origin === "setValue") return;
      this.isOwn = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.send(), PAUSE);
    });
    this.editor.on("inputRead", (editor, change) => {
      if (/[A-Za-z]/.test(change.text[0]) && !editor.state.completionActive) this.complete(editor);
    });
    this.editor.on("blur", () => {
      if (!this.wrong && !this.isOwn) this.show();
    });
    link.on(["yaml"], () => this.show());
  }

  // Text of the model replaces that of the editor, but not what a person is typing.
  show() {
    const yaml = this.link.state.yaml;
    if (!yaml) return;
    this.mark(yaml.error);
    const now = this.editor.getValue();
    if (this.isOwn || now === yaml.text) return;
    if (yaml.error && this.sent === now) return;
    if (this.element.closest("[hidden]")) {
      this.isStale = true;
      return;
    }
    this.isStale = false;
    const place = this.editor.getCursor();
    const scroll = this.editor.getScrollInfo();
    this.editor.setValue(yaml.text);
    this.editor.clearHistory(); // undo of what was typed ends at what the model wrote
    this.editor.setCursor(place, null, { scroll: false });
    this.editor.scrollTo(scroll.left, scroll.top);
    this.mark(yaml.error);
  }

  refresh() {
    this.editor.refresh();
    this.show();
  }

  async send() {
    clearTimeout(this.timer);
    this.sent = this.editor.getValue();
    const answer = await this.link.ask({ do: "yaml", text: this.sent });
    if (this.editor.getValue() !== this.sent) return; // more was typed meanwhile
    this.isOwn = false;
    this.mark(answer.ok ? null : answer.error);
  }

  mark(error) {
    if (this.wrong) this.editor.removeLineClass(this.wrong, "background", "wrong-line");
    this.wrong = null;
    this.message.className = error ? "message" : "message well";
    const line = error?.line ?? lineOf(error);
    const place = error?.line && !error.message.startsWith("line ") ? `line ${error.line}: ` : "";
    this.message.textContent = error
      ? `${place}${error.message}`
      : "Ctrl-Space completes. The last text that could be loaded is the model.";
    if (line) this.wrong = this.editor.addLineClass(line - 1, "background", "wrong-line");
  }

  // Names of functions, of their parameters, and of the parameters of the model.
  complete(editor) {
    const cursor = editor.getCursor();
    const line = editor.getLine(cursor.line).slice(0, cursor.ch);
    const word = line.match(/[A-Za-z_]\w*$/)?.[0] ?? "";
    const { library = [], parameters = [], components = [] } = this.link.state;
    const items = library.flatMap((group) => group.items);
    const names = new Set([
      ...components.map((one) => one.name),
      ...items.map((item) => item.name),
      ...parameters.map((row) => row.name),
      ...items.flatMap((item) => item.parameters ?? []),
    ]);
    const list = [...names]
      .filter((name) => name !== word && name.toLowerCase().startsWith(word.toLowerCase()))
      .slice(0, 40);
    const from = CodeMirror.Pos(cursor.line, cursor.ch - word.length);
    const container = this.element.closest(".pyspec-builder");
    editor.showHint({ hint: () => ({ list, from, to: cursor }), completeSingle: false, container });
  }
}

// The line that a message of the parser of YAML names: the last one is where it gave up.
function lineOf(error) {
  const found = [...(error?.message ?? "").matchAll(/\bline (\d+)/g)].at(-1);
  return found ? Number(found[1]) : null;
}
