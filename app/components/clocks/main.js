// The component: tokens, positions and vectors that the visitor chose; draws, speaks, saves, and cleans up. No message is sent.
import { replaceAddress } from "./address.js";
import { written } from "./axes.js";
import { button, choice, replaceControls, toggle } from "./controls.js";
import { drawDials, dropped, grabbed, hitDial, layoutDials } from "./dials.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { Drawn, mount } from "./mount.js";
import { describe, fields } from "./pair.js";
import { Stage } from "./stage.js";
import { address, fromAddress, LAST, REACHES } from "./state.js";
import { element, fill, isolate, pathNodes } from "./template.js";
import { curves, pairsOf, product, term } from "./turn.js";
import { csvOfDials, csvOfOffsets, TableTwin } from "./twin.js";
import { drawWaves, layoutWaves } from "./waves.js";

const count = value => String(value).replace("-", "\u2212"); // whole numbers, as they are printed
const STEPS = 640, NARROW = 520, BETWEEN = 18, SETTLED = 250;

function decode(data) {
  const size = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)));
  const raw = new Float32Array(data.slice(Math.ceil((4 + size) / 4) * 4).buffer), { length, width } = header;
  const rows = from => Array.from({ length }, (_, i) => raw.subarray(from + i * width, from + (i + 1) * width));
  return { ...header, queries: rows(0), keys: rows(length * width), scores: raw.subarray(2 * length * width) };
}

class Clocks extends Drawn {
  update({ data }) {
    const header = decode(data);
    this.receive(header, header.digest === this.header?.digest);
  }

  /** Another head keeps tokens and positions; another sentence begins anew. */
  open(header) {
    const another = this.header && JSON.stringify(this.header.labels) !== JSON.stringify(header.labels);
    this.header = header;
    if (!this.state) this.state = fromAddress(header);
    else if (another) Object.assign(this.state, { tokens: [...header.at], places: this.state.own ? this.state.places : header.at.map(at => Math.min(LAST, at)) });
    this.hover = this.over = this.moved = null;
    this.build();
    this.change({});
  }

  build() {
    const { text } = this.header;
    this.controls = element("div", { class: "controls" });
    this.tokens = element("div", { class: "controls" });
    this.sliders = Object.fromEntries([["at_query", 0], ["at_key", 1], ["both", null]].map(([name, which]) => [name, this.slider(name, which)]));
    const clocks = dialStage(this, text), line = waveStage(this, text);
    this.numbers = element("p", { class: "numbers", "data-testid": "product" });
    this.note = element("p", { class: "note", role: "status", "data-testid": "moved" });
    this.recorded = element("p", { class: "note", "data-testid": "recorded" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    this.panel = element("div", { class: "pair", "data-testid": "pair" });
    this.typed = element("div", { class: "controls" });
    this.path = element("code", { class: "path", dir: "ltr" }, ...pathNodes(this.header.path));
    this.table = new TableTwin(text);
    const exports = exportRow(this, text, () => address(this.state, this.header));
    const heading = name => element("h3", {}, text[name]);
    this.root.replaceChildren(element("section", { class: "card" }, element("div", { class: "choices" }, this.controls, this.tokens), element("div", { class: "sliders" }, ...Object.values(this.sliders).map(({ label }) => label)),
      this.numbers, this.note, element("div", { class: "dials" }, heading("dials"), clocks.frame, this.typed), element("div", { class: "waves" }, heading("waves"), line.frame, this.recorded), this.live,
      element("div", { class: "aside" }, this.panel), this.path, this.table.details, exports));
    this.asGroup(text.title);
    Object.assign(this, { clocks, line });
  }

  slider(name, which) {
    const { text } = this.header, shown = element("output", {}), box = element("input", { type: "range", min: "0", max: String(LAST), step: "1", "data-testid": name });
    box.oninput = () => this.move(which, Number(box.value));
    box.onchange = () => { this.begun = null; };
    return { box, shown, label: element("label", { class: "slider" }, element("span", { class: `name ${name}` }, text[name]), box, shown) };
  }

  /** One token, or both with the same offset between them, goes to another position. */
  move(which, to) {
    const { places } = this.state, [q, k] = places, before = this.begun ??= product(this.pairs, q - k);
    const by = Math.max(-Math.min(q, k), Math.min(LAST - Math.max(q, k), to - q));
    const next = which === null ? [q + by, k + by] : places.map((place, i) => i === which ? to : place);
    this.moved = { both: which === null, before };
    this.change({ places: next });
  }

  /** The offset becomes this one: the key moves, and the query only where the key cannot. */
  stand(offset) {
    const [q, k] = this.state.places, at = Math.max(0, Math.min(LAST, q - offset));
    this.moved = { both: false, before: this.begun ??= product(this.pairs, q - k) };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.begun = null; }, SETTLED);
    this.change({ places: [Math.max(0, Math.min(LAST, at + offset)), at] });
  }

  /** Part of the state becomes another: everything that hangs on it is made anew at the next frame. */
  change(part) {
    Object.assign(this.state, part);
    const { own, tokens, hands, pairing } = this.state, { header } = this;
    const [query, key] = own ? hands : [header.queries[tokens[0]], header.keys[tokens[1]]];
    const name = JSON.stringify([header.digest, own, tokens, hands, pairing, this.state.reach]);
    if (name !== this.made) {
      this.made = name;
      this.pairs = pairsOf(query, key, own ? header.own_frequencies : header.frequencies, pairing);
      this.state.pair = Math.min(this.state.pair, this.pairs.length - 1);
      this.curves = curves(this.pairs, this.state.reach, STEPS);
      if (this.width) this.arrange();
    }
    if (this.width) this.frame ??= requestAnimationFrame(() => { this.frame = null; this.write(); this.show(); this.paint(); });
  }

  get places() { return { q: this.state.places[0], k: this.state.places[1] }; }
  get scale() { return (this.state.own ? this.header.own[0].length : this.header.width) ** -0.5; }
  get chosen() { return this.hover ?? this.state.pair; }

  pick(pair) { this.change({ pair: Math.max(0, Math.min(this.pairs.length - 1, pair)) }); }

  turnTip(index, name, hand) {
    const pair = this.pairs[index], vector = this.state.hands[name === "q" ? 0 : 1].slice();
    pair.channels.forEach((channel, i) => { vector[channel] = Math.max(-9, Math.min(9, Math.round(hand[i] * 100) / 100)); });
    this.moved = null;
    this.change({ pair: index, hands: name === "q" ? [vector, this.state.hands[1]] : [this.state.hands[0], vector] });
  }

  /** Controls as the state has them; lists are made anew only where something in them changed. */
  show() {
    const { state } = this, drawn = JSON.stringify([this.header.digest, this.theme.name, this.inner, state.own, state.tokens, state.pairing, state.reach, state.phases]);
    if (drawn !== this.drawn) { this.drawn = drawn; this.showChoices(); }
    this.showPlaces();
  }

  showChoices() {
    const { header, state, theme, inner: room } = this, { text } = header, options = names => names.map(name => ({ value: name, label: text[name] }));
    const pick = (name, part) => value => { this.moved = null; this.change(part ? part(value) : { [name]: value }); };
    replaceControls(this.controls, [
      choice({ theme, room, name: "vectors", label: text.vectors, options: options(["vectors_model", "vectors_own"]), value: state.own ? "vectors_own" : "vectors_model",
        onPick: pick("own", value => ({ own: value === "vectors_own", places: value === "vectors_own" ? [3, 1] : state.tokens.map(at => Math.min(LAST, at)) })) }),
      choice({ theme, room, name: "pairing", label: text.pairing, options: options(["adjacent", "half"]), value: state.pairing, onPick: pick("pairing") }),
      choice({ theme, room, name: "reach", label: text.reach, options: REACHES.map(reach => ({ value: reach, label: fill(text.within, { reach }) })), value: state.reach, onPick: pick("reach") }),
      toggle({ name: "phases", label: text.phases, value: state.phases, onPick: pick("phases") }),
      state.own && button({ name: "reset", label: text.reset, onPick: () => pick("hands")(header.own.map(vector => [...vector])) }),
    ]);
    const token = (name, which) => choice({ theme, room: 0, name, label: text[name], options: header.labels.map((label, i) => ({ value: i, label: `${i}  ${label}` })), value: state.tokens[which],
      onPick: at => { this.moved = null; this.change({ tokens: state.tokens.map((other, i) => i === which ? at : other), places: state.places.map((place, i) => i === which ? Math.min(LAST, at) : place) }); } });
    replaceControls(this.tokens, state.own ? [element("span", { class: "note" }, text.drag)] : [token("query", 0), token("key", 1)]);
    this.clocks.canvas.style.touchAction = state.own ? "none" : "pan-y";
    this.line.canvas.style.touchAction = "pan-y";
  }

  showPlaces() {
    const { state } = this, { text } = this.header;
    for (const [name, value] of [["at_query", state.places[0]], ["at_key", state.places[1]], ["both", state.places[0]]]) {
      const { box, shown } = this.sliders[name];
      if (box.value !== String(value)) box.value = String(value);
      shown.textContent = name === "both" ? `${state.places[0]}, ${state.places[1]}` : String(value);
    }
    if (!this.typed.contains(this.root.getRootNode().activeElement)) this.typed.replaceChildren(...(state.own ? fields(text, this.pairs[state.pair], (name, i, value) => {
      const { x, y } = this.pairs[this.state.pair][name];
      this.turnTip(this.state.pair, name, i ? [x, value] : [value, y]);
    }) : []));
  }

  get inner() { return Math.max(220, this.width - (this.width < NARROW ? 26 : 42)); }

  arrange() {
    this.dialsAt = layoutDials(this.pairs, this.inner, this.afar && this.width > NARROW);
    this.wavesAt = layoutWaves(this.theme, this.curves, this.state.reach, this.inner);
    this.clocks.fit(this.dialsAt.width, this.dialsAt.height);
    this.line.fit(this.wavesAt.width, this.wavesAt.height);
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.arrange();
    this.show();
    this.paint();
  }

  looks(pointed = true) {
    const { text } = this.header, { q, k } = this.places, offset = pointed ? this.over ?? q - k : q - k, chosen = pointed ? this.chosen : this.state.pair, pair = this.pairs[Math.min(chosen, this.pairs.length - 1)];
    return { text, offset, chosen: pair.index, phases: this.state.phases, product: product(this.pairs, offset), term: term(pair, offset), places: this.places, own: this.state.own, terms: this.pairs.map(each => term(each, q - k)) };
  }

  paint() {
    const look = this.looks();
    this.clocks.paint(this.theme);
    this.line.paint(this.theme);
    this.say(look);
    this.panel.replaceChildren(...describe(look.text, this.pairs[look.chosen], this.places));
    this.table.show(this.pairs, this.places);
    this.root.dataset.pair = look.chosen;
    this.root.dataset.product = look.product;
    this.root.dataset.at = this.state.places.join(",");
    this.root.dataset.radius = this.dialsAt.radius;
    this.root.dataset.painted = ++this.painted;
  }

  say(look) {
    const { header, state, moved } = this, { text } = header, { q, k } = this.places, put = (node, words) => { if (node.textContent !== words) node.textContent = words; };
    const values = { q, k, product: written(look.product), score: written(look.product * this.scale), width: state.own ? header.own[0].length : header.width };
    const label = which => isolate(header.labels[state.tokens[which]]);
    put(this.numbers, state.own ? fill(text.said_own, values) : fill(text.said, { ...values, query: label(0), key: label(1) }));
    put(this.live, fill(text.said_pair, { pair: look.chosen, offset: count(look.offset), value: written(look.term), product: values.product, score: values.score }));
    const left = state.phases ? "" : ` ${fill(text.left_out, { value: written(product(this.pairs, look.offset, false)) })}`;
    put(this.note, (moved ? fill(moved.both ? text.moved_both : text.moved_one, { before: written(moved.before), after: written(product(this.pairs, q - k)) }) : "") + left);
    const own = written(header.scores[state.tokens[0] * header.length + state.tokens[1]]), masked = header.causal && state.tokens[1] > state.tokens[0] ? ` ${text.future}` : "";
    this.path.hidden = state.own;
    put(this.recorded, state.own ? "" : fill(header.turned ? text.recorded_turned : text.recorded_plain, { score: own, q: state.tokens[0], k: state.tokens[1] }) + masked);
  }

  get picture() {
    const { dialsAt, wavesAt, theme } = this, look = this.looks(false);
    return { width: Math.max(dialsAt.width, wavesAt.width), height: dialsAt.height + BETWEEN + wavesAt.height, draw: surface => {
      drawDials(surface, theme, dialsAt, this.pairs, look);
      surface.shift(0, dialsAt.height + BETWEEN, () => drawWaves(surface, theme, wavesAt, this.curves, look));
    } };
  }

  caption() {
    const { header, state } = this, { text, caption, labels } = header, { q, k } = this.places;
    const told = { q, k, pairing: text[state.pairing], head: caption.head, query: isolate(labels[state.tokens[0]]), key: isolate(labels[state.tokens[1]]) };
    return state.own ? [fill(text.caption_own, { ...told, vectors: state.hands.map(hand => `(${hand.map(value => written(value)).join(", ")})`).join(" · ") })]
      : [fill(text.caption_sentence, caption), fill(text.caption_dials, told)];
  }

  get kinds() { return ["png", "svg", "csv", "csv_offsets"]; }

  async file(kind) {
    const { header, state } = this, name = fileName([state.own ? "rotary" : header.caption.model, kind === "csv_offsets" ? "rotary-offsets" : "rotary-clocks"], kind.slice(0, 3));
    const caption = this.caption(), lines = { csv: () => csvOfDials(header.text, this.pairs, this.places, caption), csv_offsets: () => csvOfOffsets(header.text, this.pairs, state.reach, this.scale, caption) };
    return { blob: lines[kind]?.() ?? await pictureOf(kind, this.theme, this.picture, caption), name, caption };
  }

  point(part) {
    if (Object.entries(part).every(([name, value]) => this[name] === value)) return;
    Object.assign(this, part);
    this.change({});
  }

  write() { replaceAddress(address(this.state, this.header)); }

  close() {
    clearTimeout(this.timer);
    super.close();
  }
}

const focusable = (stage, name, keys) => { for (const [attribute, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": name, "aria-description": keys })) stage.frame.setAttribute(attribute, value); };

/** Arrow keys: which way, or undefined. Keys that are ours go no further. */
function arrow(event, ways) {
  const way = event.altKey || event.ctrlKey || event.metaKey ? undefined : ways[event.key];
  if (way !== undefined) { event.preventDefault(); event.stopPropagation(); }
  return way;
}

/** The clocks: pointing and arrow keys choose a pair; the tips of one's own vectors can be dragged. */
function dialStage(owner, text) {
  let held = null;
  const drop = (x, y) => owner.turnTip(held.pair, held.name, dropped(owner.dialsAt, owner.pairs[held.pair], owner.places[held.name], x, y));
  const at = (x, y) => hitDial(owner.dialsAt, owner.pairs.length, x, y);
  const stage = new Stage({
    name: "dials", onDraw: surface => drawDials(surface, owner.theme, owner.dialsAt, owner.pairs, owner.looks()),
    onPoint: (x, y) => held ? drop(x, y) : owner.point({ hover: at(x, y) }), onLeave: () => owner.point({ hover: null }),
    onPress: (x, y) => { const pair = at(x, y); if (pair !== null) owner.pick(pair); },
  });
  stage.canvas.onpointerdown = event => {
    held = owner.state.own ? grabbed(owner.dialsAt, owner.pairs, owner.places, ...stage.at(event)) : null;
    if (held) { owner.hover = null; stage.canvas.setPointerCapture(event.pointerId); }
  };
  stage.canvas.onpointerup = stage.canvas.onpointercancel = () => { held = null; };
  focusable(stage, text.dials, text.dials_keys);
  stage.frame.onkeydown = event => {
    const last = owner.pairs.length - 1, { pair } = owner.state, { across } = owner.dialsAt;
    const next = arrow(event, { ArrowLeft: pair - 1, ArrowRight: pair + 1, ArrowUp: pair - across, ArrowDown: pair + across, Home: 0, End: last });
    if (next === undefined) return;
    owner.hover = null;
    owner.pick(next);
  };
  return stage;
}

/** The curve: pointing reads it, dragging and arrow keys move the offset. */
function waveStage(owner, text) {
  const at = x => Math.round(owner.wavesAt.offset(x));
  const stage = new Stage({
    name: "waves", onDraw: surface => drawWaves(surface, owner.theme, owner.wavesAt, owner.curves, owner.looks()),
    onPoint: (x, _, event) => { if (event.buttons === 1) { owner.over = null; owner.stand(at(x)); } else owner.point({ over: at(x) }); },
    onLeave: () => owner.point({ over: null }), onPress: x => { owner.over = null; owner.stand(at(x)); },
  });
  focusable(stage, text.waves, text.waves_keys);
  stage.frame.onkeydown = event => {
    const [q, k] = owner.state.places, by = arrow(event, { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: k - q, End: owner.state.reach - q + k });
    if (by === undefined) return;
    owner.over = null;
    owner.stand(q - k + by);
  };
  return stage;
}

export default mount(".clocks", Clocks);
