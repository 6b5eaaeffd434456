import assert from "node:assert/strict";
import test from "node:test";

import { findState, idAt, labelOf, nameOf, swapped, wordsOf, leavesOut } from "../src/changes.js";
import { madeUp } from "./made_up.js";

const KNOWN = [
  { id: "no-mask", label: "without the causal mask", question: "Who sees the future?", exercise: null, of: null },
  { id: "no-skip", label: "without a skip connection", question: "?", exercise: null, of: "skip" },
  { id: "head-off", label: "without a head", question: "?", exercise: null, of: "head" },
  { id: "layer-off", label: "without a layer", question: "?", exercise: null, of: "layer" },
];

test("words are swapped, and everything between them stays", () => {
  assert.equal(swapped("Time flies, like an arrow.", 0, 4), "arrow flies, like an Time.");
  assert.equal(swapped("Time flies, like an arrow.", 4, 0), "arrow flies, like an Time.");
  assert.equal(swapped("don't stop\nnow", 0, 2), "now stop\ndon't");
  assert.deepEqual(wordsOf("May 3, 1987: für's").map(({ word }) => word), ["May", "3", "1987", "für's"]);
});

test("a change at a place has the place in its id", () => {
  const state = madeUp({ kind: "encoder-decoder" });
  const place = { stack: "decoder", layer: 2, attention: "cross", head: 3, query: 0, step: "decoder.2.cross.weights" };
  const [mask, skip, head, layer] = KNOWN;
  assert.equal(idAt(mask, state, { ...place, layer: null }), "no-mask");
  assert.equal(idAt(skip, state, place), "no-skip:decoder.2.cross");
  assert.equal(idAt(skip, state, { ...place, step: "decoder.2.feed_forward.inner" }), "no-skip:decoder.2.feed_forward");
  assert.equal(idAt(head, state, place), "head-off:decoder.2.cross.3");
  assert.equal(idAt(head, state, { ...place, head: null }), null);
  assert.equal(idAt(layer, state, place), "layer-off:decoder.2");
  assert.equal(idAt(layer, state, { ...place, layer: null }), null);
});

test("a change is called by the host's words, or by the page's own", () => {
  const one = madeUp();
  const two = madeUp({ kind: "encoder-decoder" });
  assert.equal(labelOf("no-mask", KNOWN, one), "without the causal mask");
  assert.equal(labelOf("no-mask", [{ ...KNOWN[0], label: "blind" }], one), "blind");
  assert.equal(labelOf("no-scale", [], one), "without ÷ √K");
  assert.equal(labelOf("head-off:decoder.2.self.3", KNOWN, one), "without head 3 of layer 2");
  assert.equal(labelOf("head-off:decoder.2.cross.3", KNOWN, two), "without head 3 of the cross-attention in layer 2 of the decoder");
  assert.equal(labelOf("no-skip:decoder.0.feed_forward", KNOWN, one), "without the skip connection around the feed-forward network in layer 0");
  assert.equal(labelOf("layer-off:encoder.1", KNOWN, two), "without layer 1 of the encoder");
  assert.equal(nameOf(one, KNOWN), "as the model is");
  assert.equal(nameOf(madeUp({ changes: ["no-mask", "layer-off:decoder.1"] }), KNOWN), "without the causal mask and without layer 1");
});

test("a run that is there already is found, in whatever order its changes stand", () => {
  const states = [madeUp(), madeUp({ changes: ["no-mask", "layer-off:decoder.1"] })];
  const { text } = states[0].header;
  assert.equal(findState(states, { text, written: null, changes: ["layer-off:decoder.1", "no-mask"] }), 1);
  assert.equal(findState(states, { text, written: null, changes: [] }), 0);
  assert.equal(findState(states, { text, written: null, changes: ["no-mask"] }), -1);
  const both = madeUp({ kind: "encoder-decoder" });
  assert.equal(findState([both], { text: both.header.text, written: null, changes: [] }), 0);
  assert.equal(findState([both], { text: both.header.text, written: "else", changes: [] }), -1);
  assert.equal(findState(states, { text: "else", written: null, changes: [] }), -1);
});

test("a run says which step it leaves out", () => {
  const step = (id) => ({ id, kind: id.split(".").at(-1) });
  const out = (change, id) => leavesOut({ header: { changes: [change] } }, step(id));
  assert.ok(out("no-scale", "decoder.0.self.scaled") && out("no-mask", "decoder.1.self.masked") && out("layer-off:decoder.1", "decoder.1.self.query"));
  assert.ok(out("no-skip:decoder.0.self", "decoder.0.self.residual") && !out("no-skip:decoder.0.self", "decoder.0.feed_forward.residual"));
  assert.ok(!out("no-scale", "decoder.0.self.scores") && !out("head-off:decoder.0.self.1", "decoder.0.self.mixed"));
});
