// How one number came about, from the recorded numbers of the steps before it.

import { array, headShown, labels, shown, stackOf, stepOf, visible } from "./state.js";

/** More digits than in a picture, so that a reader can compute along; small numbers keep three that count. */
function exact(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : Number.isNaN(value) ? "NaN" : "−∞";
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(2).replaceAll("-", "−").replace("e", " · 10^");
  return value.toFixed(Math.abs(value) < 1 ? 3 : 2).replace("-", "−");
}

const TERMS = 3; // of a sum that are written out

/** A mixed value: each weight times the value of its key, the largest first. */
function mixture(state, step, stack, get, row, column) {
  const [weights, value, mixed] = ["weights", "value", "mixed"].map(get);
  if (!weights || !value) return [];
  const weightsStep = { ...step, kind: "weights", axes: ["head", "query", "key"], array: step.array.replace(/mixed$/, "weights") };
  const keys = labels(state, weightsStep, stack).columns;
  const terms = keys.map((key, index) => ({ key, weight: weights.data[row * weights.columns + index], value: value.data[index * value.columns + column] }));
  terms.sort((a, b) => Math.abs(b.weight * b.value) - Math.abs(a.weight * a.value));
  const written = terms.slice(0, TERMS).map((one) => `${exact(one.weight)} × ${exact(one.value)} (“${visible(one.key)}”)`);
  const rest = terms.slice(TERMS).reduce((sum, one) => sum + one.weight * one.value, 0);
  if (terms.length > TERMS) written.push(`${exact(rest)} from the others`);
  return [{ text: `weight × value of each key: ${written.join(" + ")} = ${exact(mixed.data[row * mixed.columns + column])}` }];
}

/**
 * Lines that lead to one entry of a step: `[{text, strips?, bars?}]`; `strips` are vectors to be drawn under it, each
 * `{name, values}`, `bars` are shares, each `{name, value}`. For the mean over heads: the heads' numbers. Empty where a
 * step has no simple way to say it.
 */
export function explain(state, step, place, row, column) {
  const where = { stack: step.id.split(".")[0], layer: place.layer, part: step.part };
  const stack = stackOf(state, where.stack);
  const get = (kind) => {
    const found = stepOf(state, where.stack, where.layer, where.part, kind);
    return found && shown(state, found, headShown(step, place.head));
  };
  const cell = (matrix) => matrix.data[row * matrix.columns + column];
  const vector = (matrix, index) => matrix.data.subarray(index * matrix.columns, (index + 1) * matrix.columns);
  const { rows, columns } = labels(state, step, stack);
  const from = `“${visible(rows[row] ?? "")}”`;
  const to = `“${visible(columns[column] ?? "")}”`;
  const K = state.header.model.sizes.K;
  if (step.kind === "probabilities") {
    const logits = shown(state, stepOf(state, where.stack, null, "output", "logits") ?? step, null);
    return [{ text: `logit ${exact(cell(logits))}, then eˡᵒᵍⁱᵗ ÷ the sum of all ${logits.columns}: ${exact(cell(shown(state, step, null)))}` }];
  }
  if (step.kind === "residual") {
    const order = stack.layers[place.layer].steps;
    const result = get(step.part === "feed_forward" ? "feed_forward" : "projected");
    const now = shown(state, step, null);
    if (!result || order.length === 0) return [];
    return [{ text: `${exact(cell(now) - cell(result))} from the residual stream + ${exact(cell(result))} = ${exact(cell(now))}` }];
  }
  if (step.axes[0] === "head" && headShown(step, place.head) === null) {
    const found = array(state, step.array);
    const [heads, inHead] = [found.shape[0], found.shape[1] * found.shape[2]];
    const bars = Array.from({ length: heads }, (_, head) => ({ name: `head ${head}`, value: found.data[head * inHead + row * found.shape[2] + column] }));
    return [{ text: "It is the mean over the heads:", bars }, { text: "Choose one head to see how its number comes about." }];
  }
  if (step.kind === "mixed") return mixture(state, step, stack, get, row, column);
  if (!["scores", "scaled", "masked", "weights"].includes(step.kind)) return [];
  const [query, key, scores, scaled, masked, weights] = ["query", "key", "scores", "scaled", "masked", "weights"].map(get);
  const turned = [get("turned_query") ?? query, get("turned_key") ?? key];
  const lines = [];
  if (scores && turned[0] && turned[1]) {
    const q = vector(turned[0], row);
    const k = vector(turned[1], column);
    lines.push({ text: step.kind === "scores" ? `The products of their ${q.length} numbers sum to ${exact(cell(scores))}.` : `query ${from} · key ${to} = ${exact(cell(scores))}`,
      strips: step.kind === "scores" ? [{ name: `query of ${from}`, values: q }, { name: `key of ${to}`, values: k }, { name: "product", values: q.map((value, index) => value * k[index]) }] : null });
  }
  if (step.kind === "scores") return lines;
  if (scores && scaled && state.header.changes?.includes("no-scale")) {
    lines.push({ text: `This run does not divide by √${K}: ${exact(cell(scaled))} stays.` });
  } else if (scores && scaled) {
    const divided = cell(scores) / Math.sqrt(K);
    const same = Math.abs(cell(scaled) - divided) <= 1e-3 * Math.max(1, Math.abs(divided));
    lines.push({ text: `${exact(cell(scores))} ÷ √${K} = ${exact(divided)}${same ? "" : `; here it is ${exact(cell(scaled))}`}` });
  }
  if (step.kind === "scaled") return lines;
  if (masked && cell(masked) === -Infinity) lines.push({ text: `${to} comes after ${from}: masked, −∞` });
  if (step.kind === "masked" || !weights) return lines;
  const before = masked ?? scaled ?? scores;
  if (before) {
    const given = vector(before, row);
    const most = Math.max(...given);
    if (!Number.isFinite(most)) return lines;
    const powers = [...given].map((value) => Math.exp(value - most));
    const sum = powers.reduce((total, value) => total + value, 0);
    const share = powers[column] / sum;
    const same = Math.abs(share - cell(weights)) <= 2e-3 * Math.max(share, 1e-3);
    lines.push({ text: `The row's largest number, ${exact(most)}, is subtracted first; the weights stay the same, and no power grows too large.` });
    lines.push({ text: `e^(${exact(cell(before))} − ${most < 0 ? `(${exact(most)})` : exact(most)}) = ${exact(powers[column])}; ÷ ${exact(sum)}, the sum of the row's powers = ${exact(share)}${same ? "" : `; here it is ${exact(cell(weights))}`}` });
  }
  return lines;
}
