/* An encoder's last vectors compared: a cosine for each pair of tokens. */

import { el } from "./draw.js";
import { grid, picture } from "./matrix.js";
import { drawn } from "./redraw.js";
import { announce } from "./region.js";
import { shown, stackOf, visible } from "./state.js";
import { described, named, number, sentence } from "./words.js";

const NEIGHBORS = 5;

/** The other tokens of a row, the most alike first: `[{index, cosine}, …]`. */
export function neighbors({ columns, data }, row) {
  const others = Array.from({ length: columns }, (_, index) => ({ index, cosine: data[row * columns + index] }));
  return others.filter(({ index }) => index !== row).sort((a, b) => b.cosine - a.cosine);
}

/** The step that compares an encoder's last vectors; null where the state has none, or not its numbers. */
function compared(state) {
  const stack = stackOf(state, "encoder");
  const step = stack?.output.find((each) => each.kind === "similarity");
  const matrix = step && shown(state, step, null);
  return matrix ? { stack, step, matrix } : null;
}

export function mount(element, store) {
  element.classList.add("similarity");
  element.dataset.tour = "similarity";
  const readings = el("p", { class: "value" });
  const heat = picture(null, (cell, chosen) => {
    const { stack, matrix } = compared(store.state);
    if (chosen) store.change({ place: { stack: "encoder", query: cell[0] } });
    const [row, column] = cell;
    readings.textContent = `${named(stack.tokens, row)} and ${named(stack.tokens, column)}: cosine ${number(matrix.data[row * matrix.columns + column])}`;
    if (!chosen) announce(readings.textContent);
  });
  const wide = el("div", {}, heat.element);

  function draw() {
    const found = compared(store.state);
    const width = wide.clientWidth;
    if (!found || !width) return;
    const { stack, matrix } = found;
    const names = { axes: ["token", "token"], rows: stack.tokens, columns: stack.tokens };
    const chosen = store.place.stack === "encoder" ? store.place.query : null;
    const label = `Cosines of the last vectors, ${matrix.rows} tokens. Arrow keys read a cell.`;
    heat.set({ matrix, scale: { type: "signed", most: 1 }, names, box: grid(matrix, stack.tokens, stack.tokens, width, true), chosen, marked: null, label }, false);
  }

  drawn(
    element,
    store,
    () => [store.state, store.place.stack, store.place.query],
    ({ state, place }) => {
      const found = compared(state);
      if (!found) return null;
      const { stack, step, matrix } = found;
      const query = place.stack === "encoder" ? Math.min(place.query, matrix.rows - 1) : 0;
      const bar = ({ index, cosine }) =>
        el(
          "li",
          {},
          el("span", { class: "name" }, visible(stack.tokens[index])),
          el("span", { class: "line", "aria-hidden": "true", style: `--part: ${Math.max(0, cosine)}` }),
          el("span", { class: "number" }, number(cosine)),
        );
      queueMicrotask(draw);
      return [
        el("h2", {}, "Which tokens are alike?"),
        el("p", { class: "says" }, "Each token leaves the encoder as one vector, made in its sentence. The cosine of two of them is 1 where they point the same way. ", sentence(state, step.id, place)),
        el(
          "div",
          { class: "compared" },
          el("div", {}, wide, readings),
          el("div", {}, el("h3", {}, `${matrix.rows - 1 > NEIGHBORS ? "Most alike" : "All others, compared"} to ${named(stack.tokens, query)}`), el("ol", { class: "alike" }, neighbors(matrix, query).slice(0, NEIGHBORS).map(bar))),
        ),
        described(state, step.id, place, "which tokens are alike"),
      ];
    },
  );
  new ResizeObserver(draw).observe(wide);
}
