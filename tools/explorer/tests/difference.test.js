import assert from "node:assert/strict";
import test from "node:test";

import { changedPrediction, differenceInWords, firstDifferentStep, minus, mostApart, predictionSentence, similaritySentence, weightsSentence, whereTheyDiffer } from "../src/difference.js";
import { madeUp } from "./made_up.js";
import { smallState } from "./small_state.js";

const column = (kind, data, part = "self") => ({ part, kind, axes: ["token", "column"], shape: [1, data.length], data });
const predicting = (...shares) =>
  smallState(["x"], [{ part: "output", kind: "logits", axes: ["token", "word"], shape: [1, shares.length], data: shares.map(Math.log) }], { vocabulary: ["a", "b", "c", "d"].slice(0, shares.length) });

test("what is hidden in both is no difference; what is hidden in one has no number", () => {
  assert.deepEqual([...minus([1, -Infinity, -Infinity, 2], [3, -Infinity, 1, 2])], [-2, 0, NaN, 0]);
});

test("the first step that differs is found, rounding is not a difference", () => {
  const one = smallState(["x"], [column("norm", [1, 2]), column("query", [3, 4]), column("key", [5, 6])]);
  const other = smallState(["x"], [column("norm", [1, 2.00001]), column("query", [3, 4.5]), column("key", [0, 0])]);
  assert.deepEqual(firstDifferentStep(one, other), { id: "decoder.0.self.query", why: "numbers" });
  assert.deepEqual(firstDifferentStep(one, one), null);
  assert.equal(whereTheyDiffer(one, other), "They begin to differ at “query” (attention, layer 0): up to there, all numbers are the same.");
});

test("a step that is missing, or of another shape, is a difference; one that was left out is not", () => {
  const one = smallState(["x"], [column("norm", [1, 2]), column("masked", [1])]);
  assert.deepEqual(firstDifferentStep(one, smallState(["x"], [column("norm", [1, 2])])), { id: "decoder.0.self.masked", why: "missing" });
  assert.deepEqual(firstDifferentStep(one, smallState(["x"], [column("norm", [1, 2, 3]), column("masked", [1])])), { id: "decoder.0.self.norm", why: "shape" });
  const without = smallState(["x"], [{ kind: "norm", axes: ["token", "column"], shape: [1, 2] }, column("masked", [1])]);
  assert.equal(firstDifferentStep(one, without), null);
});

test("NaN in one state is a difference", () => {
  const one = smallState(["x"], [column("norm", [1, 2])]);
  assert.equal(firstDifferentStep(one, smallState(["x"], [column("norm", [1, NaN])])).why, "numbers");
});

test("who gained and who lost, most first", () => {
  const { gained, lost } = changedPrediction(predicting(0.1, 0.5, 0.3, 0.1), predicting(0.4, 0.2, 0.25, 0.15), 0, 0);
  assert.deepEqual(gained.map(({ word }) => word), ["b", "c"]);
  assert.deepEqual(lost.map(({ word }) => word), ["a", "d"]);
  assert.equal(
    predictionSentence(predicting(0.1, 0.9), predicting(0.6, 0.4), 0),
    "After “x”, “b” (40% → 90%) became more probable, and “a” (60% → 10%) less probable.",
  );
  assert.match(predictionSentence(predicting(0.5, 0.5), predicting(0.5, 0.5), 0), /no probability changed/);
});

test("two runs of a made-up model: the mistake is where they part", () => {
  assert.match(whereTheyDiffer(madeUp({ wrong: "scaled" }), madeUp()), /“Scaled” \(attention, layer 0\)/);
  assert.equal(whereTheyDiffer(madeUp(), madeUp()), "All numbers are the same, up to rounding.");
  assert.match(whereTheyDiffer(madeUp({ tokens: 5 }), madeUp()), /“Token vectors” \(the embeddings\): there, the numbers of tokens differ/);
});

test("the largest difference is named, and that of each row", () => {
  const grid = (...data) => ({ rows: 2, columns: 2, data });
  const [mine, theirs] = [grid(0.2, 0.8, 0.5, 0.5), grid(0.25, 0.7, 0.5, 0.5)];
  const difference = grid(...minus(mine.data, theirs.data));
  assert.deepEqual(mostApart(difference, 1), null);
  assert.equal(mostApart(grid(0, -2, NaN, 5)).row, 1);
  const names = { axes: ["query", "key"], rows: ["a", "b"], columns: ["a", "b"] };
  const { sentence, table } = differenceInWords("Softmax", mine, theirs, difference, names);
  assert.equal(sentence, "They differ most in the row of “a”, at “b”: 0.80 here, 0.70 beside.");
  assert.deepEqual(table.rows.map(({ cells }) => cells), [["“b”", "0.80", "0.70", "0.10"], ["nowhere", "–", "–", "–"]]);
  assert.equal(differenceInWords("Softmax", mine, mine, grid(0, 0, 0, 0), names).table, null);
});

test("an encoder's tokens became more alike, or less", () => {
  const state = (cosine) =>
    smallState(["a", "b"], [{ part: "output", kind: "similarity", axes: ["token", "token"], shape: [2, 2], data: [1, cosine, cosine, 1] }], { kind: "encoder" });
  assert.equal(similaritySentence(state(0.5), state(0.25)), "At the end “a” and “b” are more alike: their cosine went from 0.25 to 0.50, and no other pair changed more.");
  assert.match(similaritySentence(state(-0.5), state(0.25)), /less alike: their cosine went from 0.25 to −0.50/);
  assert.match(similaritySentence(state(0.5), state(0.501)), /as alike as before/);
  assert.equal(similaritySentence(madeUp(), madeUp()), "");
  const swapped = state(0.9);
  swapped.header.stacks[0].tokens = ["b", "a"];
  assert.equal(similaritySentence(swapped, state(0.5)), ""); // its rows are other tokens
});

test("cells that are hidden in one run only are a difference, and a step that the shown run lacks too", () => {
  const masked = smallState(["x"], [column("scaled", [1, 2]), column("masked", [1, -Infinity]), column("weights", [1, 0])]);
  const open = smallState(["x"], [column("scaled", [1, 2]), column("masked", [1, 2]), column("weights", [0.4, 0.6])]);
  const none = smallState(["x"], [column("scaled", [1, 2]), column("weights", [0.4, 0.6])]);
  assert.deepEqual(firstDifferentStep(open, masked), { id: "decoder.0.self.masked", why: "numbers" });
  assert.deepEqual(firstDifferentStep(none, masked), { id: "decoder.0.self.masked", why: "missing" });
  assert.match(whereTheyDiffer(none, masked), /“masked”/);
});

test("what became of the chosen token's weights: where, from, to, and whether they are sharper", () => {
  const state = (...row) => smallState(["a", "b"], [{ part: "self", kind: "weights", axes: ["head", "query", "key"], shape: [1, 2, 2], data: [1, 0, ...row] }]);
  const place = { stack: "decoder", layer: 0, attention: "self", head: 0, query: 1 };
  assert.equal(weightsSentence(state(0.9, 0.1), state(0.5, 0.5), place), "In head 0 of layer 0, “b” → “a” went from 0.50 to 0.90: its weights are sharper.");
  assert.match(weightsSentence(state(0.5, 0.5), state(0.9, 0.1), place), /more even/);
  assert.match(weightsSentence(state(0.5, 0.5), state(0.5, 0.5), place), /stay as they were/);
  const first = { ...place, query: 0 }; // whose own weights are the same: the row that changes is said
  assert.match(weightsSentence(state(0.9, 0.1), state(0.5, 0.5), first), /the weights of “a” stay as they were\. Another row changes most: “b” → “a” went from 0\.50 to 0\.90/);
});
