// Links made by hand: what a click does, undo, a start from the model's links, saving; and a warning while something is unsaved.
import { button } from "./controls.js";
import { element } from "./template.js";

export class Editor {
  constructor(app, { text }) {
    this.app = app;
    this.text = text;
    this.toggle = button({ name: "edit", label: text.edit, onPick: () => app.edit(!app.editing) });
    const act = (name, change) => button({ name, label: text[name], onPick: () => { change(app.draft); app.edited(); } });
    this.undo = act("undo", draft => draft.undo());
    this.save = button({ name: "save-gold", label: text.save_gold, className: "action primary", onPick: () => app.save() });
    this.discard = act("discard", draft => draft.discard());
    this.tools = element("span", { class: "tools" }, this.undo, act("start_from_model", draft => draft.take(app.shown.links)), act("clear", draft => draft.clear()), this.discard);
    this.hint = element("p", { class: "hint" }, text.edit_hint);
    this.state = element("p", { class: "draft", role: "status", "data-testid": "draft" });
    this.node = element("div", { class: "editor served" }, element("div", { class: "controls" }, this.toggle, this.tools, this.save), this.hint, this.state);
  }

  show() {
    const focused = this.node.contains(this.node.getRootNode().activeElement) ? this.node.getRootNode().activeElement : null;
    this.follow();
    if (focused && (focused.hidden || focused.disabled || focused.parentNode.hidden)) this.toggle.focus(); // keys go on working
  }

  follow() {
    const { app, text } = this, { draft, editing, header } = app;
    this.toggle.setAttribute("aria-pressed", String(editing));
    this.toggle.classList.toggle("pressed", editing);
    this.tools.hidden = this.hint.hidden = !editing;
    this.save.hidden = !draft.changed;
    this.save.disabled = app.saving;
    this.discard.hidden = !draft.changed;
    this.undo.disabled = draft.past.length === 0;
    const said = header.refused ? `${text.draft_refused} ${header.refused}` : app.saving ? text.draft_saving : draft.changed ? (draft.restored ? text.draft_back : text.draft) : app.justSaved ? text.saved : "";
    if (this.state.textContent !== said) this.state.textContent = said;
    this.state.hidden = !said;
  }
}
