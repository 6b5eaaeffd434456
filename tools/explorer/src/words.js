/* What a picture shows, said: a sentence and a table for each step, made from its numbers. */

import { probabilitiesOfLikely, softmax } from "./sampling.js";
import { array, find, headShown, labels, matrix, stackOf, stepOf, visible, wordsAt } from "./state.js";

const MOST_CELLS = 256; // of a table that shows every entry
const STRONGEST = 3; // of each row, in all other tables
const WORTH_SAYING = 0.005; // a share that a sentence names beside a larger one
export const AROUND = { self: "attention", cross: "cross-attention", feed_forward: "feed-forward" };
const SAME = 1e-6; // weights that differ by less are called equal

/* ——— numbers and names ——— */

/** A number as a reader wants it: three digits, a real minus sign, −∞ and NaN by their names. */
export function number(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 || size === 0 ? 2 : 3;
  const written = value.toFixed(digits);
  if (Number(written) === 0 && value !== 0) return value.toExponential(1).replaceAll("-", "−");
  return written.replace("-", "−");
}

/** A share as a percentage that never says 0 or 100 where something is or is missing. */
export function percent(value) {
  if (Number.isNaN(value)) return "NaN";
  if (value > 0 && value < 0.001) return "less than 0.1%";
  if (value < 1 && value > 0.9995) return "more than 99.9%";
  const points = value * 100;
  return `${points < 1 || (points > 99 && points < 100) ? Number(points.toFixed(1)) : Math.round(points)}%`;
}

/** A token as the sentences name it; a token that stands several times gets its position, counted from 0. */
export function named(tokens, index) {
  const several = tokens.indexOf(tokens[index]) !== tokens.lastIndexOf(tokens[index]);
  return `“${visible(tokens[index])}”${several ? ` (position ${index})` : ""}`;
}

/** A token as it is spoken: blanks and line breaks have names. */
export const heard = (token) => ({ " ": "space", "\n": "line break" })[token] ?? visible(token);

/** A token of a list as it is spoken: one that stands several times is told apart by its position. */
export function heardAt(tokens, index) {
  const several = tokens.indexOf(tokens[index]) !== tokens.lastIndexOf(tokens[index]);
  return `${heard(tokens[index])}${several ? `, position ${index}` : ""}`;
}

/** Where a step stands that every part of a layer has: “ after attention”; empty for any other step. */
export function whereOf({ kind, part }, state) {
  if (!AROUND[part] || (kind !== "norm" && kind !== "residual")) return "";
  return ` ${kind === "residual" || state.header.model.norm === "post" ? "after" : "before"} ${AROUND[part]}`;
}

/** “a”, “b” and “c”. */
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

const plural = (count, one, several = `${one}s`) => `${count === 0 ? "no" : count} ${count === 1 ? one : several}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const lengthOf = (row) => Math.sqrt(row.reduce((sum, each) => sum + each * each, 0));
const rowOf = (grid, row) => grid.data.subarray(row * grid.columns, (row + 1) * grid.columns);
const near = (a, b) => Math.abs(a - b) <= 1e-3 * Math.max(1e-9, Math.abs(a), Math.abs(b));

/** The matrix of a step for the head of a place. Query heads that share keys and values have one matrix together. */
export function gridOf(state, step, place, which = "array") {
  const found = array(state, step[which]);
  if (!found) return null;
  const heads = state.header.model.sizes.H ?? found.shape[0];
  const head = headShown(step, place.head);
  return matrix(found, step.axes, head, heads);
}

/** Indices of a row's entries, the largest first; what is −∞ or NaN is left out. */
export function strongest(row, count = row.length) {
  const order = [...row.keys()].filter((index) => Number.isFinite(row[index]));
  return order.sort((a, b) => row[b] - row[a]).slice(0, count);
}

/** The most probable tokens at a position, without any cut: `[{word, probability}, …]`; none where nothing is predicted. */
export function predicted(state, query, count = STRONGEST) {
  const found = wordsAt(state, query);
  if (!found) return [];
  const logits = found.words.map(({ logit }) => logit);
  const shares = found.rest === null ? softmax(logits) : probabilitiesOfLikely(logits, found.rest).listed;
  return strongest(shares, count).map((index) => ({ word: found.words[index].word, probability: shares[index] }));
}

/** What a decoder writes after a position, as long as it takes the most probable token: `{word, probability}`; null elsewhere. */
export function writes(state, stack, query) {
  if (state.header.kind === "encoder" || stack !== state.header.stacks.at(-1).name) return null;
  return predicted(state, query, 1)[0] ?? null;
}

/** “9”, read, and “8” written: as a row of a decoder's cross-attention is called. */
export function rowNames(state, step, stack, names) {
  if (step.part !== "cross" || names !== stack.tokens) return names;
  return names.map((token, index) => {
    const next = writes(state, stack.name, index);
    return next ? `${visible(token)} → ${visible(next.word)}` : token;
  });
}

/* ——— sentences ——— */

/** What a step shows at a place: a sentence or two, true of the numbers. */
export function sentence(state, id, place) {
  const { step, stack, layer } = find(state, id);
  const grid = gridOf(state, step, place);
  const says = SENTENCES[step.kind];
  const parts = [];
  if (grid || ((step.kind === "probabilities" || step.kind === "logits") && state.header.likely)) {
    parts.push(says ? says(contextOf(state, step, stack, layer, place, grid)) : step.says);
  } else {
    parts.push(step.says, "Its numbers are not kept in this page.");
  }
  const right = gridOf(state, step, place, "right");
  if (grid && right) parts.push(differenceSentence(step, stack, state, grid, right));
  return parts.join(" ");
}

/** Everything that a sentence may speak about. */
function contextOf(state, step, stack, layer, place, grid) {
  const names = labels(state, step, stack);
  const heads = state.header.model.sizes.H;
  const query = Math.min(place.query, stack.tokens.length - 1);
  const where =
    layer === null || step.axes[0] !== "head"
      ? ""
      : headShown(step, place.head) === null
        ? `On average over the ${heads} heads of layer ${layer}, `
        : `In head ${headShown(step, place.head)} of layer ${layer}, `;
  const part = (kind, other = step.part) => {
    const found = stepOf(state, stack.name, layer, other, kind);
    return found && gridOf(state, found, place);
  };
  return {
    state, step, stack, layer, place, grid, where, query, part,
    columns: names.columns,
    me: named(stack.tokens, query),
    row: grid && grid.rows > query ? rowOf(grid, query) : null,
    oneHead: place.head !== null,
  };
}

const start = (where, text) => (where ? where + text : capital(text));

const SENTENCES = {
  token_vectors({ grid, stack, query, me }) {
    const twin = stack.tokens.findIndex((token, index) => index !== query && token === stack.tokens[query]);
    const first = `Each of the ${plural(grid.rows, "token")} gets its row of the embedding matrix, ${grid.columns} numbers.`;
    if (twin < 0) return `${first} The row of ${me} has length ${number(lengthOf(rowOf(grid, query)))}.`;
    const same = rowOf(grid, twin).every((each, column) => each === rowOf(grid, query)[column]);
    return same
      ? `${first} The same token has the same row: “${visible(stack.tokens[query])}” at positions ${query} and ${twin}, for example.`
      : `${first} The row of ${me} has length ${number(lengthOf(rowOf(grid, query)))}.`;
  },
  positions({ grid, query, part, stack }) {
    const own = part("token_vectors", "embedding");
    const added = lengthOf(rowOf(grid, query));
    const token = `“${visible(stack.tokens[query])}”`;
    if (added === 0) return `Position ${query} adds nothing to ${token}: all its numbers are 0.`;
    const beside = own ? ` The token's own vector has length ${number(lengthOf(rowOf(own, query)))}.` : "";
    return `Position ${query}, at ${token}, adds a vector of length ${number(added)}.${beside}`;
  },
  embedded: ({ row, me, stack }) =>
    `${me} enters layer 0 of the ${stack.name} as ${row.length} numbers, a vector of length ${number(lengthOf(row))}.`,
  norm({ row, me }) {
    const mean = row.reduce((sum, each) => sum + each, 0) / row.length;
    const square = row.reduce((sum, each) => sum + (each - mean) ** 2, 0) / row.length;
    return `After the norm the ${row.length} numbers of ${me} have mean ${Math.abs(mean) < 0.005 ? 0 : number(mean)} and standard deviation ${number(Math.sqrt(square))}.`;
  },
  query: (context) => vectorSentence(context, "query"),
  key: (context) => vectorSentence(context, "key"),
  value: (context) => vectorSentence(context, "value"),
  turned_query: (context) => turnedSentence(context, "query"),
  turned_key: (context) => turnedSentence(context, "key"),
  scores({ where, row, columns, me, query, part, step }) {
    const [best, ...others] = strongest(row);
    if (best === undefined) return start(where, `the scores of ${me} are not numbers.`);
    const equal = [best, ...others.filter((index) => row[index] === row[best])];
    return equal.length > 1
      ? start(where, `the query of ${me} fits ${equal.length} keys equally well: each score is ${number(row[best])}.`)
      : start(where, `the query of ${me} fits the key of ${named(columns, best)} best: their dot product is ${number(row[best])}.`) +
        (step.part === "self" && best > query && part("masked") ? " That key comes later; the mask will hide it." : "");
  },
  scaled(context) {
    const { where, row, columns, me, part, query, state } = context;
    const [best] = strongest(row);
    if (best === undefined) return start(where, `the scores of ${me} are not numbers.`);
    const largest = `${me} has its largest score, ${number(row[best])}, at ${named(columns, best)}.`;
    const before = part("scores");
    const root = Math.sqrt(state.header.model.sizes.K);
    if (!before) return start(where, largest);
    const given = rowOf(before, query);
    const at = given.reduce((most, each, index) => (Math.abs(each) > Math.abs(given[most]) ? index : most), 0);
    const ratio = given[at] / row[at];
    const how = near(ratio, root)
      ? `Every score is divided by √K = ${number(root)}.`
      : near(ratio, 1)
        ? "The scores stay as they are: nothing divides them."
        : `Here the scores are divided by ${number(ratio)}; √K is ${number(root)}.`;
    return `${how} ${start(where, largest)}`;
  },
  masked({ row, me, columns }) {
    const open = row.filter((each) => each !== -Infinity).length;
    if (!open) return `For ${me} every key has the score −∞: it has nothing to look at.`;
    if (open === columns.length) return `${me} may look at all ${columns.length} keys.`;
    const hidden = columns.length - open;
    return `${me} may look at ${open} of ${columns.length} keys. The ${hidden === 1 ? "other has" : `other ${hidden} have`} the score −∞.`;
  },
  weights({ where, row, columns, me }) {
    return start(where, weightSentence(me, row, columns));
  },
  mixed(context) {
    const { where, row, me, part, query, oneHead } = context;
    if (!oneHead) return `For ${me}, each head mixes the values by its own weights: one vector of ${row.length} numbers for each head.`;
    const weights = part("weights");
    const length = `The result has ${row.length} numbers and length ${number(lengthOf(row))}.`;
    if (!weights) return `${start(where, `the values are mixed for ${me}.`)} ${length}`;
    const shares = rowOf(weights, query);
    const names = keysOf(context);
    const parts = strongest(shares, STRONGEST).filter((index) => shares[index] >= WORTH_SAYING);
    const mixture = parts.map((index) => `${percent(shares[index])} of ${named(names, index)}`);
    const open = shares.filter((each) => each > 0).length;
    if (!parts.length) return start(where, `nothing is mixed for ${me}: its weights are 0.`);
    return `${start(where, `the values are mixed for ${me}: ${listed(mixture)}${open > parts.length ? `, and less of ${plural(open - parts.length, "other")}` : ""}.`)} ${length}`;
  },
  joined({ row, me, state }) {
    const heads = state.header.model.sizes.H;
    const width = row.length / heads;
    const lengths = Array.from({ length: heads }, (_, head) => lengthOf(row.subarray(head * width, (head + 1) * width)));
    const most = strongest(lengths, 1)[0];
    return `The results of the ${plural(heads, "head")} stand side by side, ${width} numbers each. For ${me} the part of head ${most} is longest: ${number(lengths[most])}.`;
  },
  projected: ({ row, me }) => `Attention hands ${me} a vector of ${row.length} numbers, of length ${number(lengthOf(row))}.`,
  residual(context) {
    const { row, me, part, query, step } = context;
    const added = part(step.part === "feed_forward" ? "feed_forward" : "projected");
    const [came, began] = entering(context).map((grid) => grid && rowOf(grid, query));
    const now = `of ${me} now has length ${number(lengthOf(row))}`;
    if (!added || !came) return `The residual stream ${now}.`;
    const result = rowOf(added, query);
    if (alike(row, came.map((each, column) => each + result[column])))
      return `The residual stream of ${me} had length ${number(lengthOf(came))}. This part adds a vector of length ${number(lengthOf(result))}; the sum has length ${number(lengthOf(row))}.`;
    if (alike(row, result))
      return `What ${me} was before is lost: only what this part returns goes on, a vector of length ${number(lengthOf(row))}.`;
    if (step.part === "feed_forward" && began && alike(row, began))
      return `The layer does not count: ${me} leaves it as it came, with length ${number(lengthOf(row))}.`;
    return `The residual stream ${now}; before this part it had length ${number(lengthOf(came))}.`;
  },
  inner: ({ row, me }) =>
    `${me} is widened to ${row.length} numbers; ${row.filter((each) => each > 0).length} of them are positive.`,
  gate: ({ row, me }) =>
    `The gate of ${me} has ${row.length} numbers; ${row.filter((each) => Math.abs(each) < 0.05).length} of them are smaller than 0.05 in size and let almost nothing pass.`,
  activated: ({ row, me }) =>
    `Of the ${row.length} inner numbers of ${me}, ${row.filter((each) => Math.abs(each) < 0.05).length} are now smaller than 0.05 in size: they are almost switched off.`,
  feed_forward: ({ row, me }) => `The feed-forward network hands ${me} a vector of ${row.length} numbers, of length ${number(lengthOf(row))}.`,
  logits({ row, columns, me, state, query }) {
    const best = row ? strongest(row, 1)[0] : 0;
    const [word, logit] = row ? [columns[best], row[best]] : state.header.likely[query].slice(1);
    return `At ${me} the largest logit is ${number(logit)}, for “${visible(word)}”.`;
  },
  probabilities({ state, query, me }) {
    const [first, second] = predicted(state, query, 2);
    if (!first) return `The probabilities at ${me} sum to 1.`;
    const place = state.header.kind === "encoder" ? `At ${me}` : `After ${me}`;
    const then = second?.probability >= WORTH_SAYING ? ` Then comes “${visible(second.word)}” with ${percent(second.probability)}.` : "";
    return `${place}, the most probable token is “${visible(first.word)}” with ${percent(first.probability)}.${then}`;
  },
  similarity({ grid, stack }) {
    const pair = nearestPair(grid);
    if (!pair) return "There is one token only, and nothing to compare it with.";
    return `${named(stack.tokens, pair.first)} and ${named(stack.tokens, pair.second)} are most alike: the cosine of their last vectors is ${number(pair.cosine)}.`;
  },
};

/** Who gets how much of one row of weights: without the head and the layer, to be put behind them. */
export function weightSentence(me, row, columns) {
  if (row.some(Number.isNaN)) return `the weights of ${me} are not numbers (NaN).`;
  const sum = row.reduce((total, each) => total + each, 0);
  if (row.every((each) => each === 0)) return `${me} gives nothing to any key: all its weights are 0.`;
  const order = strongest(row);
  const equal = order.filter((index) => Math.abs(row[index] - row[order[0]]) < SAME);
  const none = row.filter((each) => each === 0).length;
  const wrong = Math.abs(sum - 1) > 1e-3 ? ` Together the weights are ${number(sum)}, and not 1.` : "";
  const nothing = none ? ` ${capital(plural(none, "key gets", "keys get"))} nothing.` : "";
  if (columns.length === 1) return `${me} gives ${percent(row[0])} of its weight to ${named(columns, 0)}, the only key.${wrong}`;
  if (columns.length - none === 1)
    return `${me} gives all of its weight to ${named(columns, order[0])}.${nothing}${wrong}`;
  if (equal.length === columns.length - none)
    return `${me} shares its weight equally among ${equal.length} keys, ${percent(row[order[0]])} each.${nothing}${wrong}`;
  if (equal.length > 1) {
    const who = equal.length < 4 ? listed(equal.map((index) => named(columns, index))) : `${equal.length} keys`;
    return `${me} gives most to ${who}: ${percent(row[order[0]])} each.${nothing}${wrong}`;
  }
  const second = row[order[1]] >= WORTH_SAYING ? `, then ${percent(row[order[1]])} to ${named(columns, order[1])}` : "";
  return `${me} gives ${percent(row[order[0]])} of its weight to ${named(columns, order[0])}${second}.${nothing}${wrong}`;
}

/** The two different rows that are most alike: `{first, second, cosine}`; null where there are fewer than two. */
export function nearestPair({ rows, columns, data }) {
  let best = null;
  for (let first = 0; first < rows; first++)
    for (let second = first + 1; second < rows; second++) {
      const cosine = data[first * columns + second];
      if (!best || cosine > best.cosine) best = { first, second, cosine };
    }
  return best;
}

/** The residual stream before a part of a layer, and before the layer. */
function entering({ state, stack, layer, step }) {
  const stream = ({ kind }) => kind === "residual" || kind === "embedded" || (kind === "norm" && state.header.model.norm === "post");
  let [came, began] = [null, null];
  for (const one of [...stack.embedding, ...stack.layers.slice(0, layer).flatMap(({ steps }) => steps)]) if (stream(one)) began = one;
  came = began;
  for (const one of stack.layers[layer].steps) {
    if (one.id === step.id) break;
    if (stream(one)) came = one;
  }
  return [came, began].map((one) => one && gridOf(state, one, { head: null }));
}

/**
 * A token's residual stream, part by part: `[{id, layer, part, came, added, sum}, …]`, lengths of what came, of what the part
 * returns, and of what goes on. Parts whose numbers a page left out are left out.
 */
export function streamLengths(state, stack, query) {
  const made = [];
  stack.layers.forEach(({ steps }, layer) => {
    for (const step of steps) {
      if (step.kind !== "residual") continue;
      const added = stepOf(state, stack.name, layer, step.part, step.part === "feed_forward" ? "feed_forward" : "projected");
      const grids = [entering({ state, stack, layer, step })[0], added && gridOf(state, added, { head: null }), gridOf(state, step, { head: null })];
      if (!grids.every(Boolean)) continue;
      const [came, result, sum] = grids.map((grid) => lengthOf(rowOf(grid, query)));
      made.push({ id: step.id, layer, part: step.part, came, added: result, sum });
    }
  });
  return made;
}

/** Whether two vectors are the same but for the rounding of what a page keeps. */
function alike(one, other) {
  return lengthOf(one.map((each, index) => each - other[index])) <= 5e-3 * lengthOf(one);
}

function vectorSentence({ where, grid, row, me, step, oneHead, state, query }, name) {
  const { H, G = H } = state.header.model.sizes;
  const sharing = step.kind !== "query" && G < H ? ` ${H} query heads share ${plural(G, "head")} of keys and values.` : "";
  if (!oneHead) return `Each head makes its own ${name} of every token, ${grid.columns} numbers.${sharing}`;
  if (step.part === "cross" && name !== "query")
    return `${start(where, `the ${name}s come from the encoder: one for each of its ${plural(grid.rows, "token")}, ${grid.columns} numbers each.`)}${sharing}`;
  const vectors = { query: "queries", key: "keys", value: "values" }[name];
  const lengths = Array.from({ length: grid.rows }, (_, index) => lengthOf(rowOf(grid, index)));
  const rank = lengths.filter((each) => each > lengths[query]).length;
  const standing = grid.rows > 1 && rank === 0 ? `, the longest of the ${grid.rows} ${vectors}` : "";
  return `${start(where, `the ${name} of ${me} has ${row.length} numbers and length ${number(lengthOf(row))}${standing}.`)}${sharing}`;
}

function turnedSentence({ where, row, me, query, oneHead, part }, name) {
  const before = part(name);
  if (!oneHead || !before) return `Each ${name} is turned by its position; its length stays the same.`;
  const [old, now] = [lengthOf(rowOf(before, query)), lengthOf(row)];
  if (rowOf(before, query).every((each, column) => near(each, row[column])))
    return start(where, `position ${query} leaves the ${name} of ${me} as it was.`);
  const kept = near(old, now) ? `its length stays ${number(now)}` : `its length changes from ${number(old)} to ${number(now)}`;
  return start(where, `the ${name} of ${me} is turned by its position, ${query}; ${kept}.`);
}

function keysOf({ state, stack, step, layer }) {
  const attention = stack.layers[layer].attentions.find((each) => each.name === step.part);
  return (stackOf(state, attention?.keys ?? stack.name) ?? stack).tokens;
}

function differenceSentence(step, stack, state, grid, right) {
  let most = -1;
  let at = 0;
  grid.data.forEach((each, index) => {
    const apart = each === right.data[index] ? 0 : Math.abs(each - right.data[index]);
    if (apart > most || Number.isNaN(apart)) [most, at] = [Number.isNaN(apart) ? Infinity : apart, index];
  });
  if (most <= 1e-5) return "";
  const row = named(labels(state, step, stack).rows, Math.floor(at / grid.columns));
  return `Yours differs most from the right one in the row of ${row}: ${number(grid.data[at])} instead of ${number(right.data[at])}.`;
}

/* ——— tables ——— */

/**
 * The same numbers as a table: `{caption, corner, columns, rows: [{name, cells}]}`, all of it text.
 *
 * Every entry where there are few; otherwise the strongest entries of each row.
 */
export function tableOf(state, id, place) {
  const { step, stack, layer } = find(state, id);
  const grid = gridOf(state, step, place);
  const where = layer === null ? "" : `, layer ${layer}`;
  const head = step.axes[0] !== "head" ? "" : headShown(step, place.head) === null ? ", mean over heads" : `, head ${headShown(step, place.head)}`;
  const caption = `${step.title}${where}${head}`;
  if (!grid) return predictionTable(state, stack, step, caption);
  const { rows, columns, axes } = labels(state, step, stack);
  const corner = AXES[axes[0]];
  const written = step.kind === "weights" || step.kind === "probabilities" ? percent : cell;
  const byRow = (cells) => Array.from({ length: grid.rows }, (_, row) => ({ name: rowName(rows, row), cells: cells(rowOf(grid, row)) }));
  if (grid.rows * grid.columns <= MOST_CELLS)
    return {
      caption, corner,
      columns: Array.from({ length: grid.columns }, (_, column) => columnName(axes[1], columns, column)),
      rows: byRow((row) => Array.from(row, written)),
    };
  const entry = (row, index) => (index === undefined ? "–" : `${columnName(axes[1], columns, index)}: ${written(row[index])}`);
  if (axes[1] === "column") {
    const largest = (row) => [...row.keys()].sort((a, b) => Math.abs(row[b]) - Math.abs(row[a])).slice(0, STRONGEST);
    return {
      caption: `${caption}: length, and the entries that are largest in size`, corner,
      columns: ["length", "largest", "second", "third"],
      rows: byRow((row) => [number(lengthOf(row)), ...padded(largest(row).map((index) => entry(row, index)))]),
    };
  }
  return {
    caption: `${caption}: the largest entries of each row`, corner,
    columns: ["largest", "second", "third"],
    rows: byRow((row) => padded(strongest(row, STRONGEST).map((index) => entry(row, index)))),
  };
}

const AXES = { token: "token", query: "query", key: "key", column: "column", word: "word" };
const cell = (value) => (value === -Infinity ? "hidden" : number(value));
const padded = (cells) => Array.from({ length: STRONGEST }, (_, index) => cells[index] ?? "–");
const rowName = (names, index) => (names?.[index] === undefined ? String(index) : `${index} ${visible(names[index])}`);
const columnName = (axis, names, index) =>
  axis === "column" ? `column ${index}` : axis === "word" ? visible(names[index]) : `${index} ${visible(names[index])}`;

function predictionTable(state, stack, step, caption) {
  const rows = stack.tokens.map((_, row) => ({
    name: rowName(stack.tokens, row),
    cells: padded(
      (step.part === "output" ? predicted(state, row) : []).map(({ word, probability }) => `${visible(word)}: ${percent(probability)}`),
    ),
  }));
  if (rows.every(({ cells }) => cells.every((each) => each === "–")))
    return { caption: `${caption}: its numbers are not kept in this page`, corner: "token", columns: [], rows: [] };
  return { caption: `${step.title}: the most probable tokens`, corner: "token", columns: ["largest", "second", "third"], rows };
}

/** The line that opens a picture's sentence and table, as nodes: what it is about is heard only. */
export function summaryOf(subject) {
  const about = document.createElement("span");
  about.className = "unseen";
  about.textContent = `: ${subject}`;
  return ["In words and as a table", about];
}

/** `tableOf` as an element. */
export function tableElement({ caption, corner, columns, rows }) {
  const table = document.createElement("table");
  table.className = "numbers";
  table.createCaption().textContent = caption;
  const heading = (parent, scope, text) => {
    const made = parent.appendChild(document.createElement("th"));
    made.scope = scope;
    made.textContent = text;
  };
  const top = table.createTHead().insertRow();
  if (columns.length) [corner, ...columns].forEach((text) => heading(top, "col", text));
  const body = table.createTBody();
  for (const { name, cells } of rows) {
    const line = body.insertRow();
    heading(line, "row", name);
    cells.forEach((text) => (line.insertCell().textContent = text));
  }
  return table;
}

/**
 * A picture's sentence and table behind one line that opens them; the table is made when it is first opened. `subject`
 * tells the line from others, for those who hear it.
 */
export function described(state, id, place, subject, open = false) {
  const made = document.createElement("details");
  made.className = "described";
  const summary = made.appendChild(document.createElement("summary"));
  summary.append(...summaryOf(subject));
  const text = made.appendChild(document.createElement("p"));
  text.textContent = sentence(state, id, place);
  const fill = () => {
    if (!made.open || made.querySelector("table")) return;
    const scroll = made.appendChild(document.createElement("div"));
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.role = "group";
    const model = tableOf(state, id, place);
    scroll.setAttribute("aria-label", model.caption);
    scroll.append(tableElement(model));
  };
  made.addEventListener("toggle", fill);
  made.open = open;
  fill();
  return made;
}
