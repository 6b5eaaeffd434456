// The chosen step, opened: its matrix with exact numbers, its formula, the line of code, the exercise; yours and the right one.

import { currentTheme } from "./color.js";
import { leavesOut } from "./changes.js";
import { bytesOf, el, fit, lookAt, paint, scaleFor } from "./draw.js";
import { explain } from "./explain.js";
import { grid, picture } from "./matrix.js";
import { announce } from "./region.js";
import { find, firstDifference, headShown, labels, shown, stepOf, visible } from "./state.js";
import { notebookLink, titled } from "./terms.js";
import { AROUND, described, number, rowNames, streamLengths, whereOf, writes } from "./words.js";

/** A row's cell with the largest number. */
function strongestOf({ columns, data }, row) {
  let best = 0;
  for (let column = 1; column < columns; column += 1) if (data[row * columns + column] > data[row * columns + best]) best = column;
  return [row, best];
}

function transposed({ rows, columns, data }) {
  const turned = new Float32Array(data.length);
  for (let row = 0; row < rows; row += 1) for (let column = 0; column < columns; column += 1) turned[column * rows + row] = data[row * columns + column];
  return { rows: columns, columns: rows, data: turned };
}

/** Mounts the step. */
export function mount(element, store) {
  element.classList.add("step");
  const title = el("h2", {});
  const headChoice = el("span", { class: "which" });
  const says = el("p", { class: "says" });
  const formula = el("div", { class: "formula", "data-tour": "formula" });
  const pictures = el("div", { class: "pictures", "data-tour": "matrix" });
  const legend = el("div", { class: "legend", "aria-hidden": "true" });
  const reading = el("div", { class: "reading" });
  const live = el("p", { class: "value" });
  const how = el("ul", { class: "how" });
  const verdict = el("p", { class: "verdict" });
  const code = el("div", { class: "code", "data-tour": "code" });
  const exercise = el("p", { class: "exercise" });
  const table = el("div", { class: "described" });
  const seen = el("div", { class: "seen" }, verdict, live, el("div", {}, pictures, legend), reading);
  reading.append(how);
  element.append(el("div", { class: "title" }, title, headChoice, el("p", { class: "hint" }, "Point at a cell, tap it, or use the arrow keys, to read its number.")),
    el("div", { class: "opened" }, seen, el("div", { class: "told" }, says, formula, code, exercise, table)));
  const yours = picture(null, (cell, chosen) => pointed(cell, chosen, yours));
  const right = picture("What it should be", (cell, chosen) => pointed(cell, chosen, right));
  const caption = el("figcaption", {}, "Yours");
  pictures.append(yours.element, right.element);
  let drawn = {};

  function pointed(cell, chosen, from) {
    const { step, stack } = find(store.state, store.place.step);
    if (chosen && labels(store.state, step, stack).rows === stack.tokens) store.change({ place: { stack: stack.name, query: cell[0], ...(step.axes.at(-1) === "key" ? { attention: step.part, key: cell[1] } : {}) } });
    const other = from === yours ? right : yours;
    if (!other.element.hidden) {
      other.cell(cell);
      other.draw();
    }
    read(cell, step, stack);
    if (!chosen) announce(live.textContent);
  }

  /** Says the number of a cell, and how it came about. */
  function read(cell, step, stack) {
    const { state, place } = store;
    how.textContent = "";
    const names = labels(state, step, stack);
    const matrix = shown(state, step, place.head);
    const [row, column] = cell ?? strongestOf(matrix, stack.name === place.stack ? Math.min(place.query, matrix.rows - 1) : 0);
    const value = matrix.data[row * matrix.columns + column];
    const named = (axis, name, index) => (axis === "column" ? `column ${index}` : `${axis} “${visible(name)}”`);
    const correct = step.right && shown(state, step, place.head, "right");
    const next = step.part === "cross" && names.axes[0] === "query" ? writes(state, stack.name, row) : null;
    live.replaceChildren(`${named(names.axes[0], names.rows[row], row)}${next ? ` (writes “${visible(next.word)}”, ${number(next.probability)})` : ""} · ${named(names.axes[1], names.columns[column] ?? "", column)}: `, el("b", {}, number(value)),
      correct ? ` (right: ${number(correct.data[row * matrix.columns + column])})` : "");
    for (const { text, strips, bars } of explain(state, step, place, row, column)) {
      how.append(el("li", {}, text, strips ? el("div", { class: "strips" }, strips.map(strip)) : null, bars ? barList(bars) : null));
    }
    if (step.kind === "residual") how.append(el("li", {}, "How long the stream is, and what each part adds:", lengths(row, step, stack)));
  }

  /** Small bars with their names and numbers; the largest is marked. */
  function barList(bars, most = 1) {
    const largest = Math.max(...bars.map((one) => one.value));
    return el("div", { class: "small-bars" }, bars.map(({ name, value }) => el("div", { class: value === largest ? "largest" : "" },
      el("span", {}, `${name} · ${number(value)}`), el("i", { style: `--part:${Math.max(0, value / most)}` }))));
  }

  /** The residual stream of a token through all layers: a bar for what came, and one for what was added. */
  function lengths(query, step, stack) {
    const all = streamLengths(store.state, stack, query);
    const most = Math.max(...all.flatMap((one) => [one.came, one.added, one.sum]));
    const bar = (length, kind) => el("i", { class: kind, style: `--part:${length / most}` });
    return el("div", { class: "small-bars lengths" }, all.map(({ id, layer, part, came, added, sum }) => el("div", { class: id === step.id ? "largest" : "" },
      el("span", {}, `layer ${layer}: stream ${number(came)}, ${AROUND[part]} adds ${number(added)}, sum ${number(sum)}`), bar(came, "came"), bar(added, "added"))));
  }

  function strip({ name, values }) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const matrix = { rows: 1, columns: values.length, data: values };
    paint(fit(canvas, 170, 14), bytesOf(matrix, scaleFor("", matrix)), 0, 0, 170, 14);
    return el("div", {}, el("span", {}, name), canvas);
  }

  /** What a step multiplies: queries and keys (they stay in sight until softmax), or weights and values. Of one head. */
  function factorsOf(step) {
    const { state, place } = store;
    const kind = step.kind;
    const products = ["scores", "scaled", "masked", "weights"];
    const head = headShown(step, place.head);
    if (head === null || !(kind === "mixed" || products.includes(kind))) return null;
    const get = (name) => {
      const found = stepOf(state, place.stack, place.layer, step.part, name);
      return found && shown(state, found, head);
    };
    const image = (matrix, of) => bytesOf(matrix, scaleFor(of, matrix));
    const [left, above] = kind === "mixed" ? [get("weights"), get("value")] : [get("turned_query") ?? get("query"), get("turned_key") ?? get("key")];
    if (!left || !above) return null;
    return kind === "mixed"
      ? { beside: { name: "weights", image: image(left, "weights") }, above: { name: "V", image: image(above, "") }, dim: false }
      : { beside: { name: "Q", image: image(left, "") }, above: { name: "Kᵀ", image: image(transposed(above), "") }, dim: kind !== "scores" };
  }

  function drawLegend(scale, hidden) {
    const canvas = el("canvas", {});
    const columns = 120;
    const low = scale.type === "share" ? 0 : -scale.most;
    const data = Float32Array.from({ length: columns }, (_, index) => low + ((scale.most - low) * index) / (columns - 1));
    paint(fit(canvas, columns, 10), bytesOf({ rows: 1, columns, data }, scale), 0, 0, columns, 10);
    legend.replaceChildren(scale.beyond ? `≤ ${number(low)}` : number(low), canvas, scale.beyond ? `≥ ${number(scale.most)}` : number(scale.most), hidden ? el("span", { class: "hidden-key" }) : "", hidden ? "−∞" : "");
  }

  function drawWords(step) {
    const { place, state } = store;
    const { H } = state.header.model.sizes;
    const where = whereOf(step, state);
    title.replaceChildren(titled(step), where && `,${where}`);
    headChoice.textContent = step.axes[0] !== "head" ? "" : place.head !== null ? `head ${place.head} of ${H}` : step.kind === "weights" ? `mean over ${H} heads`
      : H > 1 ? `head 0 of ${H}: each head has values of its own here. Choose another one above.` : "";
    says.textContent = step.says;
    formula.replaceChildren(el("span", { class: "math" }, step.formula), el("span", { class: "shapes" }, step.shapes));
    code.hidden = !step.code;
    if (step.code) code.replaceChildren(el("span", {}, `${step.code.yours ? "Your code" : "The course's code"}: ${step.code.of}, line ${step.code.number}${leavesOut(state, step) ? ". This run leaves it out:" : ""}`), el("pre", { tabindex: "0" }, el("code", {}, step.code.line)));
    exercise.hidden = !step.exercise;
    if (step.exercise) {
      const { number: which, name, notebook } = step.exercise;
      exercise.replaceChildren(`Exercise ${which}, `, el("code", {}, name), ", in ", notebookLink(notebook, notebook));
    }
  }

  function drawVerdict(step, stack, marked) {
    verdict.hidden = !step.right;
    if (!step.right) return;
    const { state } = store;
    if (!marked) {
      verdict.textContent = "In this head yours and the right one agree.";
      return;
    }
    const names = labels(state, step, stack);
    const { head, row, column, mine, correct } = marked;
    const place = [head === null ? "" : `head ${head}, `, `${names.axes[0]} “${visible(names.rows[row])}”, `, names.axes[1] === "column" ? `column ${column}` : `${names.axes[1]} “${visible(names.columns[column])}”`].join("");
    verdict.replaceChildren(el("b", {}, "Not right. "), `The first difference: ${place}. Yours is ${number(mine)}, and it should be ${number(correct)}. `,
      head !== null && headShown(step, store.place.head) !== head ? el("button", { type: "button", click: () => store.change({ place: { head } }) }, `Show head ${head}`) : "");
  }

  function draw() {
    const { state, place } = store;
    const found = find(state, place.step);
    const width = seen.clientWidth;
    element.hidden = !found;
    if (!found || !width) return;
    const { step, stack } = found;
    const theme = currentTheme();
    const before = drawn;
    drawn = { state, step: place.step, head: place.head, query: place.query, stack: place.stack, width, theme };
    if (Object.keys(drawn).every((name) => drawn[name] === before[name])) return;
    drawWords(step);
    const matrix = shown(state, step, place.head);
    pictures.classList.toggle("absent", !matrix);
    if (!matrix) {
      for (const one of [yours, right]) one.element.hidden = true;
      live.textContent = step.axes.at(-1) === "word" && !state.header.vocabulary
        ? `${state.header.model.sizes.V.toLocaleString("en")} numbers for each token: the most probable are under “What comes next”.`
        : "This page has no room for these numbers. Run the cell to see them.";
      how.textContent = legend.textContent = "";
      table.textContent = "";
      verdict.hidden = true;
      return;
    }
    const correct = step.right ? shown(state, step, place.head, "right") : null;
    const scale = scaleFor(step.kind, matrix, correct);
    const plain = labels(state, step, stack);
    const names = { ...plain, rows: rowNames(state, step, stack, plain.rows) };
    const named = ["key", "token"].includes(names.axes[1]) || matrix.columns <= 24;
    const each = correct && width > 640 ? (width - 24) / 2 : width;
    const factors = each >= 420 ? factorsOf(step) : null;
    const box = grid(matrix, names.rows, names.columns, each, named, Boolean(factors));
    const byToken = plain.rows === stack.tokens && stack.name === place.stack;
    const marked = firstDifference(state, step);
    const here = marked && (marked.head === null || marked.head === headShown(step, place.head)) ? [marked.row, marked.column] : null;
    const label = `${step.title}: ${matrix.rows} rows, ${matrix.columns} columns. Arrow keys read a cell.`;
    const moving = before.state === state && before.step !== place.step;
    yours.element.hidden = false;
    right.element.hidden = !correct;
    if (correct) yours.element.prepend(caption);
    else caption.remove();
    yours.set({ matrix, scale, names, box, chosen: byToken ? place.query : null, marked: here, factors, label }, moving);
    if (correct) right.set({ matrix: correct, scale, names, box, chosen: byToken ? place.query : null, marked: here, factors, label: `${label} The right one.` }, false);
    drawVerdict(step, stack, marked);
    drawLegend(scale, matrix.data.includes(-Infinity));
    read(yours.cell(), step, stack);
    table.replaceChildren(described(state, step.id, place, `${step.title}${whereOf(step, state)}, the matrix`, table.querySelector("details")?.open ?? false));
  }
  store.subscribe(() => {
    draw();
    lookAt(element, store, "step");
  });
  new ResizeObserver(draw).observe(seen);
  draw();
}
