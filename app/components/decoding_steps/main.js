// The component: steps through an output, speaks, and asks the server for another one when a token is taken or typed.
import { replaceAddress } from "./address.js";
import { boxOf, isSampling, share, written } from "./candidates.js";
import { button } from "./controls.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { Drawn, mount } from "./mount.js";
import { draw, hit, layout } from "./picture.js";
import { layoutScale, paintScale } from "./scale.js";
import { Stage } from "./stage.js";
import { element, fill, isolate } from "./template.js";
import { csvOf, Twin } from "./twin.js";

const BEAT = 900;

class DecodingSteps extends Drawn {
  constructor(root) {
    super(root);
    const linked = new URLSearchParams(location.search).get("step");
    this.step = /^\d{1,4}$/.test(linked ?? "") ? Number(linked) : 0;
  }

  update({ data, setTriggerValue }) {
    this.send = setTriggerValue;
    const header = JSON.parse(new TextDecoder().decode(data));
    this.receive(header, header.digest === this.header?.digest);
  }

  open(header) {
    const same = this.header && JSON.stringify(this.header.text) === JSON.stringify(header.text);
    this.header = header;
    this.step = Math.min(this.step, header.moments.length - 1);
    this.pointed = this.cursor = null;
    if (!same) this.build();
    this.slider.max = String(header.moments.length);
    this.back.hidden = !header.moments.some(moment => moment.given);
  }

  build() {
    const { text } = this.header;
    this.slider = element("input", { type: "range", min: "1", step: "1", "data-testid": "step", "aria-label": text.step });
    this.slider.oninput = () => this.go(Number(this.slider.value) - 1);
    this.number = element("output", { class: "number" });
    const walk = (name, by) => button({ name, label: text[name], onPick: () => { this.halt(); this.go(this.step + by); } });
    this.player = button({ name: "play", label: text.play, onPick: () => this.timer ? this.halt() : this.play() });
    const slide = element("div", { class: "controls slide" }, walk("previous", -1), element("label", { class: "control steps" }, element("span", { class: "name" }, text.step), this.slider, this.number), walk("next", 1), this.player);
    this.stage = new Stage({
      name: "decoding-stage",
      onDraw: (surface, view) => surface.shift(-view.x, -view.y, () => draw(surface, this.theme, this.header, this.at, this.step, this.focus)),
      onPoint: (x, y) => this.point(hit(this.at, this.header, this.step, x + this.stage.view.x, y + this.stage.view.y)),
      onLeave: () => this.point(null),
      onPress: (x, y) => this.press(hit(this.at, this.header, this.step, x + this.stage.view.x, y + this.stage.view.y)),
    });
    const { frame } = this.stage;
    this.stage.keyboard(text.title, text.keys, event => this.key(event));
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live" });
    this.twin = new Twin(text);
    const exports = exportRow(this, text, () => location.href);
    this.root.replaceChildren(element("section", { class: "card" }, slide, frame, this.scale, this.live, element("div", { class: "aside" }, this.typing(text)), element("p", { class: "hint" }, text.keys), this.twin.details, exports));
    this.asGroup(text.title);
  }

  typing(text) {
    this.input = element("input", { type: "text", class: "typed", "data-testid": "typed", "aria-label": text.type, placeholder: text.type_hint, maxlength: "200" });
    const submit = () => { if (this.input.value.trim()) this.send("typed", { ids: this.before, text: this.input.value }); };
    this.input.onkeydown = event => { event.stopPropagation(); if (event.key === "Enter") submit(); };
    this.back = button({ name: "back", label: text.back, onPick: () => this.send("branch", { ids: [] }) });
    return element("div", { class: "controls typing served" }, element("label", { class: "control" }, element("span", { class: "name" }, text.type), this.input), button({ name: "go", label: text.go, onPick: submit }), this.back);
  }

  get focus() { return this.pointed ?? (this.cursor === null ? null : { candidate: this.cursor }); }

  /** The tokens that stand before this step. */
  get before() { return this.header.moments.slice(0, this.step).map(({ id }) => id); }

  go(step) {
    const last = this.header.moments.length - 1;
    this.step = Math.max(0, Math.min(last, step));
    this.cursor = this.pointed = null;
    this.write();
    this.paint();
  }

  play() {
    if (this.step >= this.header.moments.length - 1) this.go(0);
    this.player.textContent = this.header.text.stop;
    this.timer = setInterval(() => { this.go(this.step + 1); if (this.step >= this.header.moments.length - 1) this.halt(); }, BEAT);
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
    this.player.textContent = this.header.text.play;
  }

  point(next) {
    if (JSON.stringify(next) === JSON.stringify(this.pointed)) return;
    this.pointed = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  press(found) {
    if (!found) return;
    this.halt();
    if (found.column !== undefined) this.go(found.column);
    else this.take(found.candidate);
  }

  /** Go on from another token of this step: the server writes the rest. */
  take(row) {
    const one = this.header.moments[this.step].candidates[row];
    this.cursor = row;
    this.paint();
    if (one && one.id !== this.header.moments[this.step].id) this.send("branch", { ids: [...this.before, one.id] });
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.header.moments.length - 1, rows = this.header.moments[this.step].candidates.length;
    const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: last }[event.key];
    const row = { ArrowUp: (this.cursor ?? 1) - 1, ArrowDown: (this.cursor ?? -1) + 1 }[event.key];
    if (to === undefined && row === undefined && event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.halt();
    this.pointed = null;
    if (to !== undefined) return this.go(to);
    if (event.key === "Enter") { if (this.cursor !== null) this.take(this.cursor); return; }
    this.cursor = event.key === "Escape" ? null : Math.max(0, Math.min(rows, row));
    if (this.cursor !== null) this.stage.reveal(boxOf(this.at.candidates, this.cursor));
    this.paint();
  }

  /** What this step did, and the candidate in play. */
  say() {
    const { header, step, focus } = this, { text } = header, moment = header.moments[step];
    const choice = moment.given ? text.choice_given : isSampling(header) ? fill(text.choice_drawn, { value: moment.drawn.toFixed(4), low: moment.low.toFixed(4), high: moment.high.toFixed(4), kept: moment.kept }) : text.choice_greedy;
    const taken = fill(text.said_step, { step: step + 1, read: isolate(moment.read), taken: isolate(moment.taken), value: written(moment.log_probability, 4), probability: share(Math.exp(moment.log_probability)) });
    return [`${taken} ${choice}`, this.describe(moment, focus?.candidate)].filter(Boolean).join("\n");
  }

  describe(moment, row) {
    const { text } = this.header;
    if (row === undefined) return "";
    const one = moment.candidates[row];
    if (!one) return fill(text.said_others, { count: moment.others.toLocaleString("en-US"), probability: share(moment.others_probability), final: share(moment.others_final) });
    const end = one.id === moment.id ? text.said_taken : one.cut ? text[`said_cut_${one.cut}`] : text.take;
    const values = { rank: one.rank, token: isolate(one.label), id: one.id, logit: written(one.logit, 4), probability: one.probability < 0.00005 ? share(one.probability) : one.probability.toFixed(4), final: one.final.toFixed(4) };
    return `${fill(text.said, values)} ${end}`;
  }

  async file(kind) {
    const { header, at, theme, step } = this, { caption, text } = header;
    const how = isSampling(header) ? fill(text.caption_sampling, { temperature: header.temperature, k: header.top_k ?? "–", p: header.top_p, seed: header.seed }) : text.caption_greedy;
    const lines = [fill(text.caption_sentence, caption), how];
    const name = fileName([caption.model, "decoding", kind === "csv" ? "" : step], kind);
    if (kind === "csv") return { blob: csvOf(header, lines), name, caption: lines };
    const picture = { width: at.width, height: at.height, draw: surface => draw(surface, theme, header, at, step, null) };
    const whole = [...lines, fill(text.caption_step, { step: step + 1, path: header.path }), this.say()];
    return { blob: await pictureOf(kind, theme, picture, whole), name, caption: whole };
  }

  write() {
    const url = new URL(location.href);
    if (this.step) url.searchParams.set("step", this.step);
    else url.searchParams.delete("step");
    replaceAddress(url.href);
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.at = layout(this.theme, this.header, this.inner, !this.afar);
    this.stage.fit(this.at.width, this.at.height);
    paintScale(this.scale, this.theme, layoutScale(this.theme, { high: "1", room: this.inner }));
    this.paint();
  }

  paint() {
    this.stage.paint(this.theme);
    this.slider.value = String(this.step + 1);
    this.number.textContent = `${this.step + 1} / ${this.header.moments.length}`;
    this.speak(this.say());
    this.twin.show(this.header, this.step);
    this.root.dataset.step = this.step;
    this.root.dataset.painted = ++this.painted;
  }

  close() {
    clearInterval(this.timer);
    super.close();
  }
}

export default mount(".decoding-steps", DecodingSteps);
