/* Two states side by side: the chosen step in both, their difference, where they begin to differ, what it did in the end. */

import { nameOf } from "./changes.js";
import { el, lookAt, scaleFor } from "./draw.js";
import { grid, picture } from "./matrix.js";
import { drawn } from "./redraw.js";
import { announce } from "./region.js";
import { array, find, labels, shown, stepOf, visible, wordsAt } from "./state.js";
import { probabilitiesOfLikely, softmax } from "./sampling.js";
import { gridOf, listed, named, number, percent, summaryOf, tableElement } from "./words.js";

const MOST = 3; // tokens that are named as gaining, and as losing

/* ——— what differs ——— */

/** The entries of one minus those of the other: 0 where both are the same infinity, NaN where one has no number. */
export function minus(one, other) {
  return Float32Array.from(one, (each, index) => {
    if (Object.is(each, other[index])) return 0;
    const apart = each - other[index];
    return Number.isFinite(apart) ? apart : NaN;
  });
}

/**
 * The first step, in the order of computing, that is not the same in two states: `{id, why}`, where `why` is "numbers",
 * "shape" or "missing". Null where all are the same. Numbers that differ by rounding are the same; arrays that one of
 * the pages left out are not compared.
 */
export function firstDifferentStep(one, other) {
  if (!compared.has(one)) compared.set(one, new WeakMap());
  const known = compared.get(one);
  if (!known.has(other)) known.set(other, compare(one, other));
  return known.get(other);
}

const compared = new WeakMap(); // states are never written to

function compare(one, other) {
  for (const id of (other.steps.size > one.steps.size ? other : one).steps.keys()) {
    const [here, there] = [find(one, id), find(other, id)];
    if (!here || !there) return { id, why: "missing" };
    const { step } = here;
    const [mine, theirs] = [array(one, step.array), array(other, there.step.array)];
    if (!mine || !theirs) continue;
    if (String(mine.shape) !== String(theirs.shape)) return { id, why: "shape" };
    const half = [one.header.arrays[step.array], other.header.arrays[there.step.array]].some(({ type }) => type === "f2");
    if (apart(mine.data, theirs.data, half ? 2e-3 : 1e-4)) return { id, why: "numbers" };
  }
  return null;
}

/** Whether any two entries differ by more than this part of the larger one, or of 1 if both are smaller. */
function apart(mine, theirs, tolerance) {
  for (let index = 0; index < mine.length; index++) {
    const [a, b] = [mine[index], theirs[index]];
    if (Object.is(a, b)) continue;
    if (!Number.isFinite(a - b)) return true; // hidden in one of the two only
    if (!(Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b)))) return true;
  }
  return false;
}

/**
 * How a prediction changed from `other` to `one`: `{gained, lost}`, lists of `{word, before, after}`, the largest change
 * first. Where states keep only the most probable tokens, those that both keep are compared.
 */
export function changedPrediction(one, other, queryOfOne, queryOfOther) {
  const shares = (state, query) => {
    const found = wordsAt(state, query);
    if (!found) return null;
    const logits = found.words.map(({ logit }) => logit);
    const all = found.rest === null ? softmax(logits) : probabilitiesOfLikely(logits, found.rest).listed;
    return new Map(found.words.map(({ id, word }, index) => [id, { word, share: all[index] }]));
  };
  const [after, before] = [shares(one, queryOfOne), shares(other, queryOfOther)];
  if (!after || !before) return null;
  const changes = [];
  for (const [id, { word, share }] of after)
    if (before.has(id)) changes.push({ word, before: before.get(id).share, after: share });
  const by = (sign) =>
    changes
      .filter((each) => sign * (each.after - each.before) >= 0.0005 && percent(each.after) !== percent(each.before))
      .sort((a, b) => sign * (b.after - b.before - (a.after - a.before)))
      .slice(0, MOST);
  return { gained: by(1), lost: by(-1) };
}

/** Where two states begin to differ, as a sentence. */
export function whereTheyDiffer(one, other) {
  const first = firstDifferentStep(one, other);
  if (!first) return "All numbers are the same, up to rounding.";
  const { step, layer, stack } = find(one, first.id) ?? find(other, first.id);
  const inStack = one.header.stacks.length > 1 ? ` of the ${stack.name}` : "";
  const part = { self: "attention, ", cross: "cross-attention, ", feed_forward: "feed-forward network, " }[step.part] ?? "";
  const where = layer === null ? (step.part === "embedding" ? `the embeddings${inStack}` : `the output${inStack}`) : `${part}layer ${layer}${inStack}`;
  const why = {
    numbers: "up to there, all numbers are the same.",
    shape: "there, the numbers of tokens differ.",
    missing: "one of the two has no such step.",
  }[first.why];
  return `They begin to differ at “${step.title}” (${where}): ${why}`;
}

/** How the prediction at a position changed, as a sentence; empty where nothing is predicted. */
export function predictionSentence(one, other, query) {
  const tokens = one.header.stacks.at(-1).tokens;
  const theirs = other.header.stacks.at(-1).tokens.length - 1;
  const at = tokens.length - 1 === query ? theirs : Math.min(query, theirs); // the last with the last
  const changed = changedPrediction(one, other, query, at);
  if (!changed) return "";
  const said = ({ word, before, after }) => `“${visible(word)}” (${percent(before)} → ${percent(after)})`;
  const place = one.header.kind === "encoder" ? "At" : "After";
  const parts = [
    changed.gained.length ? `${listed(changed.gained.map(said))} became more probable` : "",
    changed.lost.length ? `${listed(changed.lost.map(said))} less probable` : "",
  ].filter(Boolean);
  if (!parts.length) return `${place} ${named(tokens, query)} no probability changed enough to be seen.`;
  return `${place} ${named(tokens, query)}, ${changed.gained.length ? "" : "nothing became more probable; "}${parts.join(", and ")}.`;
}

/** What became of the chosen token's attention weights from `other` to `one`, as a sentence; empty where nothing can be said. */
export function weightsSentence(one, other, place) {
  const layer = place.layer ?? 0;
  const [step, there] = [one, other].map((state) => stepOf(state, place.stack, layer, place.attention, "weights"));
  if (!step || !there || !sameTokens(one, other)) return "";
  const [mine, theirs] = [shown(one, step, place.head), shown(other, there, place.head)];
  if (!mine || !theirs) return "";
  const chosen = Math.min(place.query, mine.rows - 1);
  const row = ({ data, columns }, query) => data.subarray(query * columns, (query + 1) * columns);
  const moved = (query) => row(mine, query).reduce((most, each, key) => Math.max(most, Math.abs(each - row(theirs, query)[key])), 0);
  const rows = [...Array(mine.rows).keys()];
  const query = moved(chosen) >= 0.005 ? chosen : rows.reduce((most, each) => (moved(each) > moved(most) ? each : most), chosen);
  const [after, before] = [row(mine, query), row(theirs, query)];
  const { stack } = find(one, step.id);
  const { columns: keys } = labels(one, step, stack);
  const key = after.reduce((most, each, index) => (Math.abs(each - before[index]) > Math.abs(after[most] - before[most]) + 1e-6 ? index : most), 0);
  const where = `${place.head === null ? "On average over the heads" : `In head ${place.head}`} of layer ${layer}`;
  const me = named(stack.tokens, query);
  const same = `the weights of ${named(stack.tokens, chosen)} stay as they were`;
  if (!(Math.abs(after[key] - before[key]) >= 0.005)) return `${where}, ${same}.`;
  const first = query === chosen ? `${where}, ` : `${where}, ${same}. Another row changes most: `;
  const spread = (row) => row.reduce((sum, share) => (share > 0 ? sum - share * Math.log(share) : sum), 0);
  const change = spread(after) - spread(before);
  const how = Math.abs(change) < 0.02 ? "about as sharp as before" : change < 0 ? "sharper" : "more even";
  return `${first}${me} → ${named(keys, key)} went from ${number(before[key])} to ${number(after[key])}: its weights are ${how}.`;
}

/** Whether two states read the same tokens, so that a row of one is that of the other. */
export function sameTokens(one, other) {
  const all = ({ header }) => JSON.stringify(header.stacks.map(({ tokens }) => tokens));
  return all(one) === all(other);
}

/** Which two tokens of an encoder became more or less alike, as a sentence; empty where there is nothing to compare. */
export function similaritySentence(one, other) {
  const [mine, theirs] = [one, other].map((state) => {
    const step = state.header.stacks.at(-1).output.find(({ kind }) => kind === "similarity");
    return step ? gridOf(state, step, { head: null }) : null;
  });
  if (!mine || !theirs || !sameTokens(one, other)) return "";
  const most = mostApart({ ...mine, data: minus(mine.data, theirs.data) });
  if (!most || most.apart < 0.005) return "At the end all pairs of tokens are as alike as before.";
  const { tokens } = one.header.stacks.at(-1);
  const [after, before] = [mine, theirs].map(({ data, columns }) => data[most.row * columns + most.column]);
  return `At the end ${named(tokens, most.row)} and ${named(tokens, most.column)} are ${after > before ? "more" : "less"} alike: their cosine went from ${number(before)} to ${number(after)}, and no other pair changed more.`;
}

/** The entry that differs most, in all rows or in one: `{row, column, apart}`; null where none differs. */
export function mostApart({ rows, columns, data }, only = null) {
  let best = null;
  for (let row = only ?? 0; row < (only === null ? rows : only + 1); row++)
    for (let column = 0; column < columns; column++) {
      const value = data[row * columns + column];
      const apart = Number.isNaN(value) ? Infinity : Math.abs(value); // hidden in one of the two only
      if (apart > 0 && !(apart <= best?.apart)) best = { row, column, apart };
    }
  return best;
}

/** The largest differences, as a sentence and a table. `names` are those of `labels`. */
export function differenceInWords(title, mine, theirs, difference, names) {
  const entry = (row, column) => ({
    key: names.axes[1] === "column" ? `column ${column}` : named(names.columns, column),
    cells: [mine, theirs, difference].map(({ data, columns }) => number(data[row * columns + column])),
  });
  const most = mostApart(difference);
  if (!most) return { sentence: "The two have the same numbers in this picture.", table: null };
  const { key, cells } = entry(most.row, most.column);
  const sentence = `They differ most in the row of ${named(names.rows, most.row)}, at ${key}: ${cells[0]} here, ${cells[1]} beside.`;
  const rows = Array.from({ length: difference.rows }, (_, row) => {
    const apart = mostApart(difference, row);
    const { key: where, cells: numbers } = apart ? entry(row, apart.column) : { key: "nowhere", cells: ["–", "–", "–"] };
    return { name: `${row} ${visible(names.rows[row] ?? "")}`, cells: [where, ...numbers] };
  });
  return { sentence, table: { caption: `${title}: where each row differs most`, corner: names.axes[0], columns: ["at", "here", "beside", "difference"], rows } };
}

/* ——— the part of the page ——— */

export function mount(element, store) {
  element.classList.add("difference");
  element.dataset.tour = "difference";
  const readings = el("p", { class: "value" });
  const pictures = ["shown", "beside", "difference"].map((name) => ({ name, picture: picture(" ", (cell) => read(cell, name)) }));
  const words = el("details", { class: "described" });
  const note = el("p", { class: "hint" }, "The two texts differ: rows and columns are compared by their position.");
  const row = el("div", { class: "three" }, pictures.map(({ picture: { element: each } }) => each));
  let seen = null; // {mine, theirs, difference, names}

  /** Marks a cell in all three pictures and says its three numbers. */
  function read(cell, from) {
    if (!seen) return;
    for (const { name, picture: each } of pictures)
      if (name !== from && !each.element.hidden) {
        each.cell(cell);
        each.draw();
      }
    const { mine, theirs, difference, names } = seen;
    const [at, to] = cell;
    const value = (matrix) => (matrix ? number(matrix.data[at * matrix.columns + to]) : null);
    const column = names.axes[1] === "column" ? `column ${to}` : `“${visible(names.columns[to] ?? String(to))}”`;
    readings.textContent = difference
      ? `${named(names.rows, at)}, ${column}: ${value(mine)} here, ${value(theirs)} beside, difference ${value(difference)}`
      : `${named(names.rows, at)}, ${column}: ${value(mine)}`;
    announce(readings.textContent);
  }

  function draw() {
    const { state, place } = store;
    const other = store.states[store.beside];
    const width = row.clientWidth;
    if (!other || !width) return;
    const { step, stack } = find(state, place.step);
    const there = find(other, place.step);
    const mine = gridOf(state, step, place);
    const theirs = there && gridOf(other, there.step, place);
    const alike = mine && theirs && mine.rows === theirs.rows && mine.columns === theirs.columns;
    const difference = alike ? { ...mine, data: minus(mine.data, theirs.data) } : null;
    const scale = scaleFor(step.kind, mine, theirs);
    const most = difference ? difference.data.reduce((largest, each) => Math.max(largest, Math.abs(each) || 0), 0) : 0;
    const count = width < 480 ? 1 : width < 820 || !alike ? 2 : 3;
    const each = (width - 20 * (count - 1)) / count;
    const show = (index, matrix, step_, stack_, of, title, ownScale, label) => {
      const { element: figure, set, cell } = pictures[index].picture;
      figure.hidden = !matrix;
      if (!matrix) return;
      figure.querySelector("figcaption").textContent = title;
      const names = labels(of, step_, stack_);
      const box = grid(matrix, names.rows, names.columns, each, ["key", "token"].includes(names.axes[1]));
      cell(null);
      set({ matrix, scale: ownScale, names, box, chosen: stack_.name === place.stack && names.axes[0] !== "key" ? Math.min(place.query, matrix.rows - 1) : null, marked: null, label }, false);
    };
    const about = `${step.title}. Arrow keys read a cell.`;
    show(0, mine, step, stack, state, `Shown: ${nameOf(state, store.host?.changes ?? [])}`, scale, `Shown now: ${about}`);
    if (there) show(1, theirs, there.step, there.stack, other, `Beside: ${nameOf(other, store.host?.changes ?? [])}`, scale, `Beside it: ${about}`);
    else pictures[1].picture.element.hidden = true;
    show(2, difference, step, stack, state, most ? `Shown − beside, from ${number(-most)} to ${number(most)}` : "Shown − beside: no difference",
      { type: "signed", most: most || 1 }, `Difference of ${about}`);
    seen = mine && { mine, theirs, difference, names: labels(state, step, stack) };
    words.hidden = !difference;
    note.hidden = !difference || sameTokens(state, other);
    if (difference) {
      const { sentence, table } = differenceInWords(step.title, mine, theirs, difference, seen.names);
      const scroll = table && el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": table.caption }, tableElement(table));
      words.replaceChildren(el("summary", {}, summaryOf("the difference of the two runs")), el("p", {}, sentence), scroll ?? "");
    }
    readings.textContent = !mine || (there && !theirs)
      ? "One of the two pages has no room for these numbers."
      : alike ? "Point at a cell, tap it, or use the arrow keys, to read its three numbers."
        : there ? "The two texts have different numbers of tokens, so their entries can't be subtracted." : "The state beside has no such step.";
  }

  const name = (state) => {
    const text = state.header.text;
    return `${nameOf(state, store.host?.changes ?? [])}: “${visible(text.length > 24 ? `${text.slice(0, 23)}…` : text)}”`;
  };

  drawn(
    element,
    store,
    () => [store.states, store.at, store.beside, store.place.step, store.place.head, store.place.query, store.place.stack, store.place.layer, store.place.attention, store.host],
    () => {
      const other = store.states[store.beside];
      if (!other) return null;
      const { state, place } = store;
      const options = store.states.map((each, index) =>
        index === store.at ? null : el("option", { value: index, selected: index === store.beside }, name(each)));
      const choice = el("select", { id: "beside", "data-key": "beside", change: (event) => store.change({ beside: Number(event.target.value) }) }, options);
      const swap = el("button", { type: "button", "data-key": "exchange", click: () => store.change({ at: store.beside, beside: store.at }) }, "Exchange the two");
      const close = el("button", { type: "button", "data-key": "close", click: () => {
        store.change({ beside: null });
        element.previousElementSibling?.querySelector("h2[tabindex]")?.focus(); // back to where it was opened
      } }, "Close");
      const last = state.header.stacks.at(-1);
      const query = Math.min(place.query, last.tokens.length - 1);
      queueMicrotask(draw);
      return [
        el("div", { class: "title" }, el("h2", {}, "Two runs side by side"), swap, close),
        el("p", { class: "which" }, el("label", { for: "beside" }, "Beside the run that is shown: "), choice),
        [weightsSentence(state, other, place), whereTheyDiffer(state, other), predictionSentence(state, other, place.stack === last.name ? query : last.tokens.length - 1), similaritySentence(state, other)]
          .filter(Boolean)
          .map((text) => el("p", { class: "says" }, text)),
        row,
        note,
        readings,
        words,
      ].flat();
    },
  );
  store.subscribe(() => lookAt(element, store, "difference"));
  new ResizeObserver(draw).observe(row);
}
