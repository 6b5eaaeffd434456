import assert from "node:assert/strict";
import test from "node:test";

import { firstPlace, makeStore } from "../src/store.js";
import { madeUp } from "./made_up.js";

const small = (options = {}) => madeUp({ tokens: 5, layers: 2, width: 8, ...options });

test("a change tells every reader once, with place and sampling merged", () => {
  const store = makeStore([small()]);
  let told = 0;
  const end = store.subscribe(() => (told += 1));
  store.change({ place: { head: 2 }, sampling: { temperature: 0.5 } });
  assert.equal(told, 1);
  assert.deepEqual([store.place.head, store.place.query, store.sampling.temperature, store.sampling.topP], [2, 4, 0.5, 1]);
  end();
  store.change({});
  assert.equal(told, 1);
});

test("a change made while readers are told reaches all of them", () => {
  const store = makeStore([small()]);
  const seen = [];
  store.subscribe(() => store.place.head === 1 && store.change({ place: { head: 2 } }));
  store.subscribe(() => seen.push(store.place.head));
  store.change({ place: { head: 1 } });
  assert.equal(seen.at(-1), 2);
});

test("in a shorter sentence of a smaller model the place is the nearest there is", () => {
  const store = makeStore([small({ tokens: 9, layers: 3 }), small({ tokens: 4, layers: 1, heads: 2 })]);
  store.change({ place: { layer: 2, head: 3, query: 8, step: "decoder.2.self.scores" } });
  store.change({ at: 1 });
  assert.deepEqual([store.place.layer, store.place.head, store.place.query], [0, null, 3]);
  assert.ok(store.state.steps.has(store.place.step));
});

test("whoever looks at the last token of a sentence looks at that of the next one", () => {
  const store = makeStore([small(), small({ tokens: 9 })]);
  store.change({ at: 1 });
  assert.equal(store.place.query, 8);
  store.change({ place: { query: 3 } });
  store.change({ at: 0 });
  assert.equal(store.place.query, 3);
  store.change({ at: 1, place: { query: 6 } });
  assert.equal(store.place.query, 6);
});

test("the page begins where something is not right", () => {
  assert.equal(firstPlace(small()).step, "decoder.0.self.weights");
  assert.equal(firstPlace(small({ wrong: "scaled" })).step, "decoder.0.self.scaled");
  const translated = firstPlace(small({ kind: "encoder-decoder" }));
  assert.deepEqual([translated.step, translated.attention], ["decoder.1.cross.weights", "cross"]);
});

test("old states go, but never the first, the shown one or the one beside it", () => {
  const store = makeStore([small(), small({ seed: 2 })]);
  const [first, second] = store.states;
  store.change({ at: 1 });
  for (let seed = 3; seed < 9; seed += 1) store.keep(small({ seed }), 4);
  assert.equal(store.states.length, 4);
  assert.equal(store.states[0], first);
  assert.equal(store.state, second);
});

test("a chosen key stays over heads, layers and tokens, and goes with its attention or its stack", () => {
  const store = makeStore([madeUp({ kind: "encoder-decoder" })]);
  store.change({ place: { key: 1 } });
  store.change({ place: { head: 1, query: 2 } });
  store.change({ place: { layer: 0 } });
  assert.equal(store.place.key, 1);
  store.change({ place: { attention: store.place.attention } });
  assert.equal(store.place.key, 1);
  store.change({ place: { attention: "self" } });
  assert.equal(store.place.key, null);
  store.change({ place: { key: 0 } });
  store.change({ place: { stack: "encoder" } });
  assert.equal(store.place.key, null);
  store.change({ place: { key: 10000 } });
  assert.equal(store.place.key, null);
});
