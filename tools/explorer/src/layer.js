// The chosen layer, opened: its steps in the order of computing, each a small picture. Attention can be played.

import { currentTheme } from "./color.js";
import { bytesOf, el, fit, paint, player, scaleFor } from "./draw.js";
import { find, shown, stackOf } from "./state.js";
import { term } from "./terms.js";
import { whereOf } from "./words.js";

const PARTS = { embedding: "Embedding", self: "Self-attention", cross: "Cross-attention", feed_forward: "Feed-forward", output: "Output" };
const TERMS = { embedding: "embedding", self: "self-attention", cross: "cross-attention", feed_forward: "feed-forward", output: "logits" };
const TOGETHER = [["query", "key", "value"], ["turned_query", "turned_key"]]; // computed side by side
const PLAYED = ["query", "key", "value", "turned_query", "turned_key", "scores", "scaled", "masked", "weights", "mixed"];
const SIGNS = { residual: "+", masked: "−∞", scaled: "÷√K", mixed: "· V", scores: "Q · Kᵀ", weights: "softmax", positions: "+", embedded: "=" };

/** Steps of one part in columns: those that are computed side by side stand in one. */
function columnsOf(steps) {
  const columns = [];
  for (const step of steps) {
    const group = TOGETHER.find((one) => one.includes(step.kind));
    if (group && columns.at(-1)?.group === group) columns.at(-1).steps.push(step);
    else columns.push({ group, steps: [step] });
  }
  return columns;
}

/** Mounts the layer. */
export function mount(element, store) {
  element.classList.add("layer");
  element.dataset.tour = "layer";
  const title = el("h2", {});
  const played = () => stepsHere().filter((step) => step.part === store.place.attention && PLAYED.includes(step.kind));
  const at = () => played().findIndex((step) => step.id === store.place.step);
  const move = (next) => {
    const step = played()[next];
    if (step) store.change({ place: { step: step.id }, look: "step" });
    return Boolean(step);
  };
  const play = player("Play attention", 1500, (first) => move(first ? 0 : at() + 1));
  const one = el("button", { type: "button", click: () => {
    play.stop();
    move((at() + 1) % played().length);
  } }, "One step ›");
  const row = el("div", { class: "parts" });
  element.append(el("div", { class: "title" }, title, play.button, one, el("p", { class: "hint" }, "Choose a step to open it below.")), row);
  let drawn = {};

  function stepsHere() {
    const { state, place } = store;
    const stack = stackOf(state, place.stack);
    if (place.layer !== null) return stack.layers[place.layer].steps;
    return find(state, place.step)?.step.part === "output" ? stack.output : stack.embedding;
  }

  function card(step, small) {
    const { state, place } = store;
    const canvas = el("canvas", { "aria-hidden": "true" });
    const wrong = step.right !== null;
    const sign = SIGNS[step.kind];
    const button = el("button", { type: "button", class: `card${small ? " small" : ""}${step.axes[0] === "head" ? " stacked" : ""}${wrong ? " wrong" : ""}`,
      "data-step": step.id, click: () => store.change({ place: { step: step.id, attention: step.part === "cross" || step.part === "self" ? step.part : place.attention }, look: "step" }) },
    canvas, el("span", { class: "what" }, step.title), el("span", { class: "unseen" }, whereOf(step, state)), small ? null : el("span", { class: "shape" }, step.shapes.split("= ").at(-1)),
    wrong ? el("span", { class: "badge" }, "not right") : null);
    if (sign) button.dataset.sign = sign;
    const matrix = shown(state, step, place.head);
    if (matrix) {
      const square = step.axes.includes("key") && step.axes.includes("query") || step.kind === "similarity";
      const width = 82;
      const height = small ? 24 : square ? Math.max(24, Math.min(82, width * matrix.rows / matrix.columns)) : 82;
      const context = fit(canvas, width, height);
      paint(context, bytesOf(matrix, scaleFor(step.kind, matrix), Math.min(matrix.columns, square ? matrix.columns : 41)), 0, 0, width, height);
    } else {
      canvas.replaceWith(el("span", { class: "absent" }, "not saved"));
    }
    return button;
  }

  function draw() {
    const { state, place } = store;
    const steps = stepsHere();
    const theme = currentTheme();
    const output = steps[0]?.part;
    if (drawn.state !== state || drawn.stack !== place.stack || drawn.layer !== place.layer || drawn.head !== place.head || drawn.theme !== theme || drawn.output !== output) {
      drawn = { state, stack: place.stack, layer: place.layer, head: place.head, theme, output };
      const stack = stackOf(state, place.stack);
      const several = state.header.stacks.length > 1 ? ` of the ${stack.name}` : "";
      title.textContent = place.layer === null ? `${PARTS[output] ?? "Steps"}${several}, step by step` : `Layer ${place.layer}${several}, step by step`;
      play.button.hidden = one.hidden = place.layer === null;
      if (play.button.hidden) play.stop();
      const focused = row.contains(document.activeElement) ? document.activeElement.dataset.step : null;
      const parts = new Map();
      for (const step of steps) parts.set(step.part, [...(parts.get(step.part) ?? []), step]);
      row.replaceChildren(...[...parts].map(([part, inside]) => el("div", { class: "part" },
        el("h3", {}, TERMS[part] ? term(TERMS[part], PARTS[part]) : PARTS[part]),
        el("div", { class: "cards" }, columnsOf(inside).map(({ steps: together }) =>
          together.length > 1 ? el("div", { class: "together" }, together.map((step) => card(step, true))) : card(together[0], false))))));
      if (focused) row.querySelector(`[data-step="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    }
    for (const button of row.querySelectorAll(".card")) button.setAttribute("aria-pressed", String(button.dataset.step === place.step));
  }
  store.subscribe(draw);
  draw();
}
