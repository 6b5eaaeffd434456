// The head of the page: which model, which sentence. With a host the sentence can be changed.

import { el } from "./draw.js";
import { announce, setText } from "./region.js";

const PAUSE = 350; // milliseconds without a key before the model runs

const SIZES = { L: "layers", H: "heads", D: "wide", V: "tokens in its vocabulary" };
const WHY = "Recorded. To change something, run the cell, or start anatomy explore in a terminal: it opens this page with a model that runs.";

/** Mounts the head. */
export function mount(element, store) {
  element.classList.add("head");
  const name = el("h1", {});
  const sizes = el("p", { class: "sizes" });
  const field = el("input", { type: "text", id: "sentence", autocomplete: "off", spellcheck: "false", input: soon, "data-tour": "text" });
  const label = el("label", { for: "sentence" }, "Sentence");
  const button = el("button", { type: "submit", class: "main" }, "Run");
  const status = el("p", { class: "status" });
  const examples = el("div", { class: "examples" });
  const form = el("form", { submit: (event) => {
    event.preventDefault();
    run();
  } }, label, field, button);
  element.append(el("div", { class: "name" }, name, sizes), form, el("div", { class: "guide" }), examples, status);

  let timer = 0;
  let asked = 0;
  let shownState = null;
  let shownExamples = "";
  let said = "";

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(run, PAUSE);
  }

  async function run() {
    clearTimeout(timer);
    const text = field.value;
    if (!store.host || !text || text === store.state.header.text) return;
    asked += 1;
    const mine = asked;
    const begin = performance.now();
    say("The model runs …");
    try {
      const at = await store.host.run({ text, written: null, changes: store.state.header.changes });
      if (mine !== asked) return; // another sentence was typed meanwhile
      store.change({ at });
      say(`Ran in ${Math.round(performance.now() - begin)} ms.`);
    } catch (problem) {
      if (mine === asked) say(problem.message, true);
    }
  }

  function say(text, wrong = false) {
    if (text && text !== said && text !== WHY) announce(text);
    said = text;
    setText(status, text);
    status.classList.toggle("wrong", wrong);
  }

  /** With a host the sentences it offers, otherwise those that are recorded here. */
  function drawExamples() {
    const buttons = [];
    if (store.host) {
      for (const text of store.host.examples) {
        buttons.push([text, () => {
          field.value = text;
          run();
        }]);
      }
    } else {
      const recorded = new Map();
      store.states.forEach((state, index) => {
        if (!recorded.has(state.header.text) && !state.header.changes.length) recorded.set(state.header.text, index);
      });
      for (const [text, index] of recorded) buttons.push([text, () => store.change({ at: index })]);
    }
    const seen = JSON.stringify([store.state.header.text, buttons.map(([text]) => text), Boolean(store.host)]);
    if (seen === shownExamples) return;
    shownExamples = seen;
    const focused = [...examples.children].indexOf(document.activeElement);
    examples.hidden = buttons.length < (store.host ? 1 : 2);
    examples.replaceChildren(el("span", {}, "Examples"), ...buttons.map(([text, click]) =>
      el("button", { type: "button", class: "choice", "aria-pressed": String(text === store.state.header.text), click }, text.length > 40 ? `${text.slice(0, 39)}…` : text)));
    examples.children[focused]?.focus({ preventScroll: true });
  }

  function draw() {
    const { state, host } = store;
    const { model } = state.header;
    name.textContent = model.name;
    sizes.textContent = Object.entries(SIZES).filter(([size]) => model.sizes[size])
      .map(([size, word]) => `${model.sizes[size].toLocaleString("en")} ${model.sizes[size] === 1 ? word.replace(/s$/, "") : word}`).join(" · ");
    if (shownState !== state) {
      shownState = state;
      if (document.activeElement !== field) field.value = state.header.text;
      if (host && said !== WHY) say("");
    }
    field.disabled = !host;
    button.hidden = !host;
    field.title = host ? "" : WHY;
    if (!host && said !== WHY) {
      say(WHY);
      status.replaceChildren(...WHY.split(/(anatomy explore)/).map((part, index) => (index === 1 ? el("code", {}, part) : part)));
    }
    else if (host && said === WHY) say("Type a sentence: the model runs as you write.");
    drawExamples();
  }
  store.subscribe(draw);
  draw();
}
