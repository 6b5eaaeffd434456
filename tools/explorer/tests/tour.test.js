import assert from "node:assert/strict";
import test from "node:test";

import { find, stackOf } from "../src/state.js";
import { TERMS } from "../src/terms.js";
import { headsOf, movedTo, tourOf, worthReading } from "../src/tour.js";
import { madeUp } from "./made_up.js";
import { smallState } from "./small_state.js";

const MODELS = {
  "a decoder": {},
  "a decoder with one layer and one head": { layers: 1, heads: 1, width: 8 },
  "a decoder of one token": { tokens: 1 },
  "a post-norm encoder": { kind: "encoder", norm: "post", words: true },
  "an encoder of two tokens": { kind: "encoder", tokens: 2 },
  "an encoder–decoder": { kind: "encoder-decoder" },
  "an encoder–decoder with one layer": { kind: "encoder-decoder", layers: 1, heads: 2 },
};

for (const [name, options] of Object.entries(MODELS))
  test(`the reading of ${name}: every step has a place that exists, and true words`, () => {
    const state = madeUp(options);
    const steps = tourOf(state);
    assert.ok(steps.length >= 12 && steps.length <= 16, String(steps.length));
    for (const { title, text, target, place } of steps) {
      assert.ok(title && target);
      assert.doesNotMatch(text, /undefined|null|NaN|\{\d/, text);
      assert.match(text, /[.]$/);
      for (const [, term] of text.matchAll(/\{([^}|]+)[^}]*\}/g)) assert.ok(term in TERMS, term);
      if (place.step !== undefined) assert.ok(find(state, place.step), `${title}: ${place.step}`);
      const { tokens } = stackOf(state, place.stack);
      assert.ok(place.query === undefined || (place.query >= 0 && place.query < tokens.length), title);
    }
  });

const weights = (data, heads, size) => [{ kind: "weights", axes: ["head", "query", "key"], shape: [heads, size, size], data }];

test("what is worth reading: the largest weight on another token", () => {
  const state = smallState(["a", "b", "c"], weights([1, 0, 0, 0.9, 0.1, 0, 0.2, 0.3, 0.5, 1, 0, 0, 0, 1, 0, 0.1, 0.6, 0.3], 2, 3), { sizes: { H: 2 } });
  const { query, key, head, weight } = worthReading(state, "decoder", 0, "self");
  assert.deepEqual([query, key, head], [2, 1, 1]);
  assert.ok(Math.abs(weight - 0.6) < 1e-6);
  assert.deepEqual(headsOf(state, "decoder", 0, "self", 2).map(({ key: each }) => each), [2, 1]);
});

test("the numbers of the reading are those of the state", () => {
  const state = madeUp({ words: true, layers: 1 });
  const { query, key, weight } = worthReading(state, "decoder", 0, "self");
  const { tokens } = state.header.stacks[0];
  const step = tourOf(state).find(({ title }) => title === "Attention weights");
  assert.equal(step.place.query, query);
  assert.ok(step.text.includes(`“${tokens[query]}” gives ${Math.round(weight * 100)}% of its weight to “${tokens[key]}”`), step.text);
});

test("without a mask, a decoder's reading does not speak of one", () => {
  const state = madeUp();
  const { header } = state;
  header.stacks[0].layers.forEach((layer) => (layer.steps = layer.steps.filter(({ kind }) => kind !== "masked")));
  [...state.steps.keys()].filter((id) => id.endsWith(".masked")).forEach((id) => state.steps.delete(id));
  assert.ok(tourOf(state).every(({ title }) => !/mask/i.test(title)));
});

test("the reading says what it chooses anew, and nothing where all stays", () => {
  const state = madeUp({ tokens: 4, layers: 2 });
  const place = { stack: "decoder", layer: 0, head: null, query: 3 };
  assert.equal(movedTo(state, place, place), "");
  assert.match(movedTo(state, place, { ...place, layer: 1, head: 2, query: 1 }), /^Now chosen: the token “.+”.*, layer 1 and head 2\.$/);
});

test("a page that keeps one run does not ask to take a part away; one with several does not speak of heads", () => {
  const state = madeUp({ kind: "encoder-decoder" });
  const last = (runs) => tourOf(state, runs).at(-1);
  assert.match(last(Infinity).text, /a head/);
  assert.match(last(3).text, /other runs/);
  assert.notEqual(last(1).target, "changes");
});

test("a reading of a changed model says so first", () => {
  const state = madeUp({ kind: "encoder" });
  assert.doesNotMatch(tourOf(state)[0].text, /changed model/);
  state.header.changes = ["no-positions"];
  assert.match(tourOf(state)[0].text, /It runs without positions: all numbers of this reading are those of the changed model\./);
});
