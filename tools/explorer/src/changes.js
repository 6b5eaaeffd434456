/* What if …? Parts that can be taken away, words that can be swapped; the new run stands beside the old one. */

import { el } from "./draw.js";
import { drawn } from "./redraw.js";
import { announce } from "./region.js";
import { find, visible } from "./state.js";
import { notebookLink } from "./terms.js";
import { listed } from "./words.js";

/** What a page without a host calls the changes that need no place: as in changes.py. */
export const LABELS = { "no-mask": "without the causal mask", "no-scale": "without ÷ √K", "no-positions": "without positions" };
const PARTS = { self: "attention", cross: "cross-attention", feed_forward: "the feed-forward network" };

/* ——— what is changed ——— */

/** The words of a text and where they stand. */
export function wordsOf(text) {
  return [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].map((found) => ({ word: found[0], start: found.index }));
}

/** A text in which two of its words, by their numbers, have changed places. Everything between them stays. */
export function swapped(text, one, other) {
  const words = wordsOf(text);
  const [first, second] = [words[Math.min(one, other)], words[Math.max(one, other)]];
  const after = (each) => each.start + each.word.length;
  return (
    text.slice(0, first.start) + second.word + text.slice(after(first), second.start) + first.word + text.slice(after(second))
  );
}

/** Which of these states is the run that is wanted; −1 if none is. `written` null: whatever the model has written. */
export function findState(states, { text, written, changes }) {
  const key = (list) => [...list].sort().join(" ");
  return states.findIndex(
    ({ header }) =>
      header.text === text && (written === null || header.written === written) && key(header.changes) === key(changes),
  );
}

/** The id of a change at the place that is chosen; null where the place is not of the kind that it needs. */
export function idAt(change, state, place) {
  if (change.of === null) return change.id;
  if (place.layer === null) return null;
  if (change.of === "layer") return `${change.id}:${place.stack}.${place.layer}`;
  if (change.of === "head")
    return place.head === null ? null : `${change.id}:${place.stack}.${place.layer}.${place.attention}.${place.head}`;
  const part = find(state, place.step)?.step.part;
  return `${change.id}:${place.stack}.${place.layer}.${part in PARTS ? part : place.attention}`;
}

/** What a change is called. `known` are the host's changes; a saved page has none. */
export function labelOf(id, known, state) {
  const [kind, where] = id.split(":");
  const change = known.find((each) => each.id === kind);
  if (!where) return change?.label ?? LABELS[kind] ?? id;
  const [stack, layer, part, head] = where.split(".");
  const inLayer = `layer ${layer}${state.header.stacks.length > 1 ? ` of the ${stack}` : ""}`;
  if (head !== undefined) return `without head ${head} of ${part === "cross" ? "the cross-attention in " : ""}${inLayer}`;
  if (part !== undefined) return `without the skip connection around ${PARTS[part]} in ${inLayer}`;
  return `without ${inLayer}`;
}

const LEAVES_OUT = { "no-scale": ["scaled"], "no-mask": ["masked"], "no-positions": ["positions", "turned_query", "turned_key"] };

/** Whether a run leaves out what a step does. */
export function leavesOut(state, step) {
  return state.header.changes.some((id) => {
    const [change, where] = id.split(":");
    if (LEAVES_OUT[change]) return LEAVES_OUT[change].includes(step.kind);
    if (change === "no-skip") return step.id === `${where}.residual`;
    return change === "layer-off" && step.id.startsWith(`${where}.`);
  });
}

/** What distinguishes a state from the others: its changes, or that it has none. */
export function nameOf(state, known) {
  const { changes } = state.header;
  return changes.length ? listed(changes.map((id) => labelOf(id, known, state))) : "as the model is";
}

/* ——— the part of the page ——— */

export function mount(element, store) {
  element.classList.add("changes");
  element.dataset.tour = "changes";
  let busy = false;
  let message = "";
  let version = 0; // of what only this part knows

  const status = el("p", { class: "status" });
  const say = (text, working = false) => {
    busy = working;
    message = text;
    version += 1;
    store.change({});
    status.textContent = message;
  };
  const sayAloud = (text, working) => {
    say(text, working);
    announce(text);
  };

  /** Shows a run: one that is there already, or a new one. The model as it is stands beside it, or what was shown. */
  async function show({ text, written, changes }) {
    if (busy) return;
    let index = findState(store.states, { text, written, changes });
    if (index < 0) {
      sayAloud("The model is running …", true);
      try {
        index = await store.host.run({ text, written, changes });
      } catch (problem) {
        sayAloud(problem.message);
        return;
      }
    }
    const asItIs = changes.length ? findState(store.states, { text, written, changes: [] }) : -1;
    const old = asItIs < 0 || store.at === index ? store.at : asItIs;
    store.change({ at: index, beside: old === index ? store.beside : old, look: old === index ? null : "difference" });
    say(`Shown: ${nameOf(store.state, store.host?.changes ?? [])}.`);
  }

  const now = () => {
    const { text, written, changes } = store.state.header;
    return { text, written, changes };
  };

  function chips(known) {
    const { changes } = store.state.header;
    if (!changes.length) return null;
    const chip = (id) => {
      const label = labelOf(id, known, store.state);
      const without = { ...now(), changes: changes.filter((each) => each !== id) };
      const can = store.host || findState(store.states, without) >= 0;
      const button = el("button", { type: "button", "data-key": `chip ${id}`, "aria-label": `Take back: ${label}`, "aria-disabled": busy && "true", click: () => show(without) }, "×");
      return el("li", { class: "chip" }, label, can ? button : null);
    };
    return el("ul", { class: "chips", "aria-label": "What is changed now" }, changes.map(chip));
  }

  function card(change, known) {
    const { state, place } = store;
    const id = idAt(change, state, place);
    const active = id !== null && state.header.changes.includes(id);
    const changes = active ? state.header.changes.filter((each) => each !== id) : [...state.header.changes, id];
    const label = id === null ? change.label : labelOf(id, known, state);
    const missing = change.of === "head" && place.layer !== null ? "Choose a head first." : "Choose a layer first.";
    return el(
      "li",
      { class: "change" },
      el(
        "button",
        { type: "button", "data-key": `change ${change.id}`, "aria-pressed": String(active), "aria-disabled": busy && "true", disabled: id === null, click: () => show({ ...now(), changes }) },
        el("span", { class: "label" }, label),
        el("span", { class: "question" }, id === null ? missing : change.question),
      ),
      change.exercise ? notebookLink(change.exercise.notebook, `Exercise ${change.exercise.number}`) : null,
    );
  }

  let pair = [0, 1];
  function swap() {
    const { text } = store.state.header;
    const words = wordsOf(text);
    if (words.length < 2) return null;
    pair = pair.map((each) => Math.min(each, words.length - 1));
    const choice = (which) =>
      el(
        "select",
        { "aria-label": which ? "Second word" : "First word", "data-key": `word ${which}`, change: (event) => {
          pair[which] = Number(event.target.value);
          version += 1;
          store.change({});
        } },
        words.map(({ word }, index) => el("option", { value: index, selected: index === pair[which] }, visible(word))),
      );
    const same = words[pair[0]].word === words[pair[1]].word;
    return el(
      "p",
      { class: "swap" },
      "Swap ", choice(0), " and ", choice(1), " ",
      el("button", { type: "button", "data-key": "swap", "aria-disabled": busy && "true", disabled: same, click: () => show({ ...now(), text: swapped(text, ...pair), written: null }) }, "Swap"),
    );
  }

  function recorded() {
    const choice = (state, index) => {
      const other = state.header.text === store.state.header.text ? "" : `“${visible(state.header.text)}”, `;
      return el(
        "li",
        { class: "change" },
        el(
          "button",
          { type: "button", "data-key": `state ${index}`, "aria-pressed": String(index === store.at), click: () => index !== store.at && show(state.header) },
          el("span", { class: "label" }, `${other}${nameOf(state, [])}`),
        ),
      );
    };
    return el("ul", { class: "choices" }, store.states.map(choice));
  }

  drawn(
    element,
    store,
    () => [store.host, store.states, store.at, store.place.stack, store.place.layer, store.place.attention, store.place.head, store.place.step, version],
    () => {
      const known = store.host?.changes ?? [];
      if (message.startsWith("Shown: ")) status.textContent = message = `Shown: ${nameOf(store.state, known)}.`; // another part may have exchanged the runs
      const title = el("h2", { tabindex: "-1", "data-key": "title" }, "What if …?");
      if (!store.host && store.states.length < 2)
        return [title, el("p", { class: "muted" }, "This page keeps one run. Where the model is running, in the notebook or with ", el("code", {}, "anatomy explore"), " in a terminal, parts of it can be taken away here.")];
      if (!store.host)
        return [title, el("p", { class: "muted" }, "These runs are kept in this page. The model as it is stands beside the one that you choose."), recorded(), status];
      return [
        title,
        el("p", { class: "muted" }, "Take something away. The model runs again, and the model as it is stands beside the new run."),
        chips(known),
        el("ul", { class: "choices" }, known.map((change) => card(change, known))),
        swap(),
        status,
      ].filter(Boolean);
    },
  );
}
