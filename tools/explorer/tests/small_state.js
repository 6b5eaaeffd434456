// States with few, known numbers: one stack with one layer, whose steps a test writes down.

import { makeState } from "../src/state.js";

/**
 * A state of one stack. `steps`: `{part, kind, axes, shape, data, right}`, in the order of computing; embedding and
 * output are parts like the others. Everything else goes into the header as it is.
 */
export function smallState(tokens, steps, { kind = "decoder", sizes = {}, stack = kind === "encoder" ? "encoder" : "decoder", ...header } = {}) {
  const arrays = {};
  const numbers = [];
  const keep = (id, shape, data) => {
    arrays[id] = { type: "f4", shape, offset: 4 * numbers.length };
    numbers.push(...data);
    return id;
  };
  const made = { name: stack, tokens, embedding: [], layers: [{ steps: [], attentions: [{ name: "self", keys: stack, causal: kind === "decoder" }] }], output: [] };
  for (const { part = "self", kind: what, axes, shape, data = null, right = null } of steps) {
    const outside = part === "embedding" || part === "output";
    const id = outside ? `${stack}.${part}.${what}` : `${stack}.0.${part}.${what}`;
    const step = { id, kind: what, part, title: what, says: `Says ${what}.`, formula: "", shapes: "", axes,
      array: data && keep(id, shape, data), right: right && keep(`${id}.right`, shape, right), exercise: null, code: null };
    (outside ? made[part] : made.layers[0].steps).push(step);
  }
  const whole = { format: 1, kind, model: { name: "Small", sizes: { H: 1, K: 4, D: 2, L: 1, ...sizes } }, text: tokens.join(" "), written: null,
    changes: [], stacks: [made], vocabulary: null, likely: null, rest: null, left_out: [], arrays, ...header };
  return makeState(whole, Float32Array.from(numbers).buffer);
}

/** A place in such a state. */
export const placeOf = (state, id, more = {}) => ({ stack: state.header.stacks[0].name, layer: 0, attention: "self", head: 0, query: 0, step: id, ...more });
