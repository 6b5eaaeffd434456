// What comes next: the distribution at the chosen position, how it is cut, and a draw from it, once or on and on.

import { chances } from "./chances.js";
import { el, player, still } from "./draw.js";
import { announce, setText } from "./region.js";
import { draw as drawOne, seeded } from "./sampling.js";
import { visible } from "./state.js";
import { term } from "./terms.js";
import { number, tableElement } from "./words.js";

const SHOWN = 8;
const PAUSE = 900; // milliseconds between two words that are written
export const SETTINGS = [
  ["temperature", "Temperature", { min: 0, max: 2, step: 0.05 }, (value) => (value === 0 ? "0: the first" : value.toFixed(2))],
  ["topK", "Top-k", { min: 0, max: 20, step: 1 }, (value) => (value === 0 ? "off" : String(value))],
  ["topP", "Top-p", { min: 0.05, max: 1, step: 0.05 }, (value) => (value === 1 ? "off" : value.toFixed(2))],
  ["minP", "Min-p", { min: 0, max: 0.5, step: 0.01 }, (value) => (value === 0 ? "off" : value.toFixed(2))],
];

/** The position whose prediction is shown: the chosen one, or the last where the chosen token stands in another stack. */
export function positionOf(state, place) {
  const stack = state.header.stacks.at(-1);
  return place.stack === stack.name ? place.query : stack.tokens.length - 1;
}

/** Mounts the predictions. */
export function mount(element, store) {
  element.classList.add("predictions");
  element.dataset.tour = "predictions";
  const after = el("p", { class: "after" });
  const bars = el("div", { class: "bars" });
  const strip = el("div", { class: "wheel", "aria-hidden": "true" });
  const said = el("p", { class: "value" });
  const sliders = el("div", { class: "sliders", "data-tour": "sampling" });
  const outputs = {};
  for (const [name, title, limits, show] of SETTINGS) {
    const output = el("output", { "aria-live": "off" }); // the slider has its value
    const input = el("input", { type: "range", ...limits, input: () => store.change({ sampling: { [name]: Number(input.value) } }) });
    outputs[name] = () => {
      input.value = store.sampling[name];
      setText(output, show(store.sampling[name]));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.setAttribute("aria-label", title);
    sliders.append(el("div", { class: "slider" }, term(title.toLowerCase(), title), input, output));
  }
  const once = el("button", { type: "button", class: "main", click: () => {
    writing.stop();
    next();
  } }, "Draw the next token");
  const writing = player("Write on", PAUSE, () => (busy ? true : canGoOn() && next()));
  const reset = el("button", { type: "button", click: () => store.change({ sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 } }) }, "Reset");
  const table = el("details", {}, el("summary", {}, "As a table", el("span", { class: "unseen" }, ": what comes next")));
  element.append(el("div", { class: "title" }, el("h2", {}, "What comes next")), after, bars, sliders, el("div", { class: "buttons" }, once, writing.button, reset), strip, said, table);

  let random = seeded(store.sampling.seed);
  let seed = store.sampling.seed;
  let busy = false;
  let drawn = {};

  const stack = () => store.state.header.stacks.at(-1);
  const position = () => positionOf(store.state, store.place);
  const canGoOn = () => store.state.header.kind !== "encoder" && position() === stack().tokens.length - 1;
  const textOf = (header) => (header.kind === "encoder-decoder" ? header.written : header.text) ?? "";

  /** The recorded state whose text goes on with a word; −1 where none is. */
  function recorded(text) {
    const { header } = store.state;
    return store.states.findIndex((one) => textOf(one.header) === text && one.header.kind === header.kind && String(one.header.changes) === String(header.changes)
      && (header.kind !== "encoder-decoder" || one.header.text === header.text));
  }

  function tell(...nodes) {
    said.replaceChildren(...nodes);
    announce(said.textContent);
  }

  /** Draws a word and goes on with it; false where it does not go on. */
  function next() {
    const found = chances(store.state, position(), store.sampling);
    if (!found) return false;
    if (seed !== store.sampling.seed) {
      seed = store.sampling.seed;
      random = seeded(seed);
    }
    const at = random();
    const index = drawOne(Float64Array.from(found.words, (one) => one.p), () => at);
    const word = found.words[index];
    drawWheel(found, at * found.words.reduce((sum, one) => sum + one.p, 0), index);
    const told = `Drawn: “${visible(word.word)}”, probability ${number(word.p)}.`;
    if (!canGoOn()) {
      tell(`${told} Choose the last token to go on with it.`);
      return false;
    }
    const { header } = store.state;
    const text = textOf(header) + word.word;
    const known = recorded(text);
    if (known < 0 && !store.host) {
      tell(`${told} To go on with it, run the cell, or start `, el("code", {}, "anatomy explore"), " in a terminal.");
      return false;
    }
    tell(told);
    go(known, text, told);
    return true;
  }

  async function go(known, text, told) {
    busy = true;
    try {
      const { header } = store.state;
      const ask = header.kind === "encoder-decoder" ? { text: header.text, written: text } : { text, written: null };
      const at = known >= 0 ? known : await store.host.run({ ...ask, changes: header.changes });
      const tokens = store.states[at].header.stacks.at(-1).tokens.length;
      store.change({ at, place: { stack: store.states[at].header.stacks.at(-1).name, query: tokens - 1 } });
      tell(told);
    } catch (problem) {
      writing.stop();
      tell(problem.message);
    } finally {
      busy = false;
    }
  }

  /** The words in one strip, each as wide as its probability, and where a random number fell. */
  function drawWheel({ words }, at = null, chosen = -1) {
    let from = 0;
    const parts = words.filter((one) => one.p > 0.002).map((one) => {
      const part = el("span", { class: one === words[chosen] ? "part chosen" : "part", style: `left:${from * 100}%;width:${one.p * 100}%` }, one.p > 0.03 ? visible(one.word) : "");
      from += one.p;
      return part;
    });
    strip.replaceChildren(...parts);
    if (at === null) return;
    const hand = el("i", { style: `left:${still() ? at * 100 : 0}%` });
    strip.append(hand);
    requestAnimationFrame(() => (hand.style.left = `${at * 100}%`));
  }

  function draw() {
    const { state, sampling, host } = store;
    const query = position();
    const last = drawn;
    drawn = { state, sampling, query, host, states: store.states.length };
    if (Object.keys(drawn).every((name) => drawn[name] === last[name])) return;
    const found = chances(state, query, sampling);
    element.hidden = !found;
    if (!found) return;
    if (!busy) drawWheel(found);
    if (!busy && last.sampling) setText(said, "");
    writing.button.hidden = !host || state.header.kind === "encoder";
    const asIs = sampling.temperature === 1 && sampling.topK === 0 && sampling.topP === 1 && sampling.minP === 0;
    after.replaceChildren("After ", el("b", {}, `“${visible(stack().tokens[query])}”`), ` (position ${query}):`,
      asIs ? "" : el("span", { class: "hint" }, " drawn as the sliders say. What the page says in words is at temperature 1, with nothing cut; so are the thin marks."));
    const plain = chances(state, query, { temperature: 1, topK: 0, topP: 1, minP: 0 });
    const before = new Map(plain.words.map((one) => [one.id, one.p]));
    const listed = found.words.slice(0, SHOWN);
    bars.replaceChildren(...listed.map((one) => el("div", { class: one.p === 0 ? "bar cut" : "bar" },
      el("span", { class: "word" }, visible(one.word)),
      el("span", { class: "track" }, el("i", { style: `width:${one.p * 100}%` }), el("u", { style: `left:${before.get(one.id) * 100}%` })),
      el("span", { class: "p" }, one.p === 0 ? "cut" : one.p < 0.0005 ? "≈ 0" : number(one.p)))));
    for (const name of Object.keys(outputs)) outputs[name]();
    table.replaceChildren(table.firstChild, tableElement({ caption: `What may come after position ${query}`, corner: "token", columns: ["logit", "probability", "uncut, temperature 1"],
      rows: listed.map((one) => ({ name: visible(one.word), cells: [one.logit, one.p, before.get(one.id)].map(number) })) }));
  }
  store.subscribe(draw);
  draw();
}
