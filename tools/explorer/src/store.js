// What the page shows, in one place. A part of the page reads the fields and calls `change`; it never keeps a copy.

import { firstDifference } from "./state.js";

const SAMPLING = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 1 };

const KEPT = ["stack", "attention"]; // as long as these stay, a key stays chosen

/**
 * The place at which a page begins, seen from the token that predicts: the first step that is not right, where it differs; else the attention weights
 * of the first layer, or, where one text is written from another, of the last layer's cross-attention.
 */
export function firstPlace(state) {
  const stack = state.header.stacks.at(-1);
  const cross = stack.layers.some((one) => one.attentions.some((attention) => attention.name === "cross"));
  const last = stack.tokens.length - 1;
  const query = state.header.kind === "encoder" ? Math.min(2, last) : last; // an encoder's last token is often a mere [SEP]
  const beginning = { stack: stack.name, attention: cross ? "cross" : "self", head: null, query, key: null }; // key: one that is looked at over all heads
  for (const { step, stack: where, layer } of state.steps.values()) {
    if (step.right === null) continue;
    const attention = step.part === "cross" ? "cross" : "self";
    const { head = null, row = 0 } = firstDifference(state, step) ?? {};
    return { ...beginning, stack: where.name, query: Math.min(row, where.tokens.length - 1), layer, attention, head, step: step.id };
  }
  const layer = stack.layers.length ? (cross ? stack.layers.length - 1 : 0) : null;
  const steps = layer === null ? stack.embedding : stack.layers[layer].steps;
  const weights = steps.find((step) => step.kind === "weights" && step.part === beginning.attention) ?? steps[0];
  return { ...beginning, layer, step: weights?.id ?? null };
}

/** The tokens that the attention of a place looks at. */
function keysOf(state, { stack, layer, attention }) {
  const named = (name) => state.header.stacks.find((one) => one.name === name);
  const found = named(stack).layers[layer ?? 0]?.attentions.find((one) => one.name === attention);
  return (named(found?.keys) ?? named(stack)).tokens;
}

/** The same place in another state, or the nearest that it has: texts differ in length, models in layers and heads. */
export function samePlace(place, state) {
  const stack = state.header.stacks.find((one) => one.name === place.stack);
  if (!stack) return firstPlace(state);
  const layer = place.layer === null || place.layer < stack.layers.length ? place.layer : stack.layers.length - 1;
  const steps = [...stack.embedding, ...stack.layers.flatMap((one) => one.steps), ...stack.output];
  const step = steps.some((one) => one.id === place.step) ? place.step : firstPlace(state).step;
  const heads = state.header.model.sizes.H ?? 1;
  return {
    ...place, layer, step,
    head: place.head !== null && place.head < heads ? place.head : null,
    query: Math.min(place.query, stack.tokens.length - 1),
    key: place.key === null || place.key >= keysOf(state, { ...place, layer }).length ? null : place.key,
  };
}

const isLast = (state, { stack, query }) => query === state.header.stacks.find((one) => one.name === stack)?.tokens.length - 1;

/** A store of states. `host` is null where nobody computes anew. */
export function makeStore(states, host = null) {
  const readers = new Set();
  let telling = false;
  let again = false;
  const store = {
    states, at: 0, beside: null, place: firstPlace(states[0]), sampling: { ...SAMPLING }, host,
    look: null, // the part of the page that comes into view with the next drawing
    written: [], // ids that were drawn in this page, one after another
    /** Sets fields; `place` and `sampling` take only what is new. Every reader is then called once. */
    change(part) {
      const before = store.state;
      const was = store.place;
      for (const [name, value] of Object.entries(part)) {
        store[name] = name === "place" || name === "sampling" ? { ...store[name], ...value } : value;
      }
      if (part.place && part.place.key === undefined && KEPT.some((name) => (part.place[name] ?? was[name]) !== was[name])) store.place = { ...store.place, key: null };
      if (store.state !== before && part.place?.query === undefined && isLast(before, store.place)) {
        store.place = { ...store.place, query: Infinity }; // whoever looks at the end goes on doing so
      }
      store.place = samePlace(store.place, store.state);
      if (telling) {
        again = true;
        return;
      }
      telling = true;
      do {
        again = false;
        for (const draw of [...readers]) draw(store);
      } while (again);
      telling = false;
    },
    /** Calls `draw(store)` after each change; gives a function that ends it. */
    subscribe(draw) {
      readers.add(draw);
      return () => readers.delete(draw);
    },
    /** The state that is shown. */
    get state() {
      return store.states[store.at];
    },
    /** Keeps another state and gives its index. The oldest that is not shown goes once there are more than `most`. */
    keep(state, most = 24) {
      const whole = [...store.states, state];
      let { at, beside } = store;
      if (whole.length > most) {
        const gone = whole.findIndex((_, index) => index !== at && index !== beside && index > 0);
        whole.splice(gone, 1);
        if (at > gone) at -= 1;
        if (beside !== null && beside > gone) beside -= 1;
      }
      store.change({ states: whole, at, beside });
      return whole.length - 1;
    },
  };
  return store;
}
