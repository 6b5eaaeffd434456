import assert from "node:assert/strict";
import test from "node:test";

import { happened } from "../src/announce.js";
import { flowSentence } from "../src/overview.js";
import { announce, setText, writeTo } from "../src/region.js";
import { makeStore } from "../src/store.js";
import { plain } from "../src/terms.js";
import { heardAt, whereOf } from "../src/words.js";
import { madeUp } from "./made_up.js";

const seen = (store) => ({ state: store.state, beside: store.states[store.beside] ?? null, place: store.place, sampling: store.sampling });

/** What is said where a store changes. */
function said(store, part) {
  const before = seen(store);
  store.change(part);
  return happened(before, seen(store));
}

const stepId = (state, layer, kind) => state.header.stacks.at(-1).layers[layer].steps.find((step) => step.kind === kind).id;

test("a layer, a head and a token that are chosen: what is looked at most, with its weight", () => {
  const state = madeUp();
  const store = makeStore([state]);
  assert.match(said(store, { place: { layer: 2, step: stepId(state, 2, "weights") } }), /^Layer 2: .+ looks most at .+, 0\.\d+$/);
  assert.match(said(store, { place: { head: 1 } }), /^Head 1: .+ looks most at /);
  assert.match(said(store, { place: { head: null } }), /^Mean over heads: /);
  const sentence = said(store, { place: { query: 3 } });
  assert.ok(sentence.startsWith(`${heardAt(state.header.stacks[0].tokens, 3)} looks most at `), sentence);
  assert.doesNotMatch(said(store, { place: { key: 0 } }), /most/);
});

test("an opened step: its title, where it stands, and its formula", () => {
  const state = madeUp();
  const store = makeStore([state]);
  const scaled = state.steps.get(stepId(state, 0, "scaled")).step;
  assert.equal(said(store, { place: { step: scaled.id } }), `${scaled.title}: ${scaled.formula}`);
  const residual = state.header.stacks[0].layers[1].steps.find(({ kind, part }) => kind === "residual" && part === "feed_forward");
  assert.equal(said(store, { place: { layer: 1, step: residual.id } }), `Layer 1. ${residual.title} after feed-forward: ${residual.formula}`);
});

test("sliders: those that moved, and the two most probable tokens", () => {
  const store = makeStore([madeUp()]);
  assert.match(said(store, { sampling: { temperature: 0.5 } }), /^Temperature 0\.50: \S+ [\d.]+, \S+ [\d.]+$/);
  assert.match(said(store, { sampling: { temperature: 1, topK: 3 } }), /^Temperature 1\.00, Top-k 3: /);
  assert.equal(said(store, { sampling: { seed: 2 } }), "");
});

test("nothing is said where nothing is chosen; a run beside another says what became of the weights", () => {
  const [one, other] = [madeUp(), madeUp({ layers: 2 })];
  const store = makeStore([one, other]);
  assert.equal(said(store, {}), "");
  assert.equal(said(store, { at: 1 }), "");
  assert.match(said(store, { at: 0, beside: 1 }), /layer|differ|same/);
  assert.equal(said(store, { beside: null }), "");
});

test("the region: the last of several sentences, and none twice", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written = [];
  writeTo((text) => written.push(text));
  for (const text of ["one", "two", "three"]) announce(text);
  t.mock.timers.tick(1000);
  announce("three");
  t.mock.timers.tick(1000);
  announce("four");
  t.mock.timers.tick(1000);
  assert.deepEqual(written, ["three", "four"]);
});

test("a text that stands already is not written again", () => {
  let writes = 0;
  const element = { text: "off", get textContent() { return this.text; }, set textContent(text) { writes += 1; this.text = text; } };
  setText(element, "off");
  setText(element, "on");
  assert.equal(writes, 1);
});

test("names that are heard", () => {
  assert.equal(heardAt(["3", "4", "3"], 2), "3, position 2");
  assert.equal(heardAt([" ", "4"], 0), "space");
  const post = { header: { model: { norm: "post" } } };
  const pre = { header: { model: { norm: "pre" } } };
  assert.equal(whereOf({ kind: "norm", part: "feed_forward" }, pre), " before feed-forward");
  assert.equal(whereOf({ kind: "norm", part: "self" }, post), " after attention");
  assert.equal(whereOf({ kind: "norm", part: "output" }, pre), "");
  assert.equal(whereOf({ kind: "scores", part: "self" }, pre), "");
  assert.equal(plain("a {token} and {score|scores}"), "a token and scores");
});

test("the picture of ribbons has a sentence for the chosen token", () => {
  for (const options of [{}, { kind: "encoder" }, { kind: "encoder-decoder" }]) {
    const state = madeUp(options);
    const { place } = makeStore([state]);
    const text = flowSentence(state, place);
    assert.doesNotMatch(text, /undefined|null|NaN/);
    assert.notEqual(text, flowSentence(state, { ...place, query: place.query - 1 }));
  }
});
