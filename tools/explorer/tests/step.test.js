import assert from "node:assert/strict";
import test from "node:test";

import { inkOn, shareParts, signedParts } from "../src/color.js";
import { explain } from "../src/explain.js";
import { grid } from "../src/matrix.js";
import { array, find, firstDifference, makeState, shown } from "../src/state.js";
import { madeUp } from "./made_up.js";

const place = { stack: "decoder", layer: 0, attention: "self", head: 1, query: 3 };
const lines = (state, id, row, column, more = {}) => explain(state, find(state, id).step, { ...place, ...more }, row, column);

test("a weight is explained by its score, the root, and its row", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  const at = (kind) => array(state, `decoder.0.self.${kind}`).data[25 + 3 * 5 + 1];
  const said = lines(state, "decoder.0.self.weights", 3, 1).map((line) => line.text).join("\n");
  for (const kind of ["scores", "scaled", "weights"]) assert.ok(said.includes(at(kind).toFixed(Math.abs(at(kind)) < 1 ? 3 : 2).replace("-", "−")), `${kind}: ${said}`);
  assert.match(said, /÷ √8 =/);
});

test("a score comes with its query, its key, and their product, which sums to it", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  const [{ strips }] = lines(state, "decoder.0.self.scores", 3, 1);
  const sum = strips[2].values.reduce((total, value) => total + value, 0);
  assert.ok(Math.abs(sum - array(state, "decoder.0.self.scores").data[25 + 16]) < 1e-4);
});

test("a mixed value is a sum of weights times values, which add up to it", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  const [{ text }] = lines(state, "decoder.0.self.mixed", 4, 2);
  const numbers = text.replaceAll("−", "-").match(/-?\d+\.\d+/g).map(Number);
  assert.equal(numbers.length, 8);
  const [a, b, c, d, e, f, rest, sum] = numbers;
  assert.ok(Math.abs(a * b + c * d + e * f + rest - sum) < 0.01, text);
  assert.ok(Math.abs(sum - array(state, "decoder.0.self.mixed").data[(5 + 4) * 8 + 2]) < 0.006);
});

test("what is masked is said to be", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  assert.match(lines(state, "decoder.0.self.masked", 1, 4).at(-1).text, /after .* masked, −∞/);
});

test("a wrong division is not said to be right", () => {
  const state = madeUp({ tokens: 5, layers: 1, wrong: "scaled" });
  assert.match(lines(state, "decoder.0.self.scaled", 3, 1).at(-1).text, /; here it is/);
});

test("the mean over heads lists the heads as bars; scores have no mean, and show head 0", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  const [{ bars }] = lines(state, "decoder.0.self.weights", 3, 1, { head: null });
  assert.deepEqual(bars.map(({ name }) => name), ["head 0", "head 1", "head 2", "head 3"]);
  const mean = bars.reduce((sum, { value }) => sum + value, 0) / 4;
  assert.ok(Math.abs(mean - shown(state, find(state, "decoder.0.self.weights").step, null).data[3 * 5 + 1]) < 1e-6);
  assert.deepEqual(lines(state, "decoder.0.self.scores", 3, 1, { head: null }), lines(state, "decoder.0.self.scores", 3, 1, { head: 0 }));
  const { step } = find(state, "decoder.0.self.scores");
  assert.equal(shown(state, step, null), shown(state, step, 0));
});

test("the softmax's arithmetic subtracts the row's largest number, so that no power is 0.000 or enormous", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  for (const shift of [-40, 40]) {
    for (const kind of ["scores", "scaled", "masked"]) {
      const { data } = array(state, `decoder.0.self.${kind}`);
      data.forEach((value, index) => (data[index] = value + shift));
    }
    const [said, result] = lines(state, "decoder.0.self.weights", 3, 1).slice(-2).map(({ text }) => text);
    assert.match(said, /subtracted first/);
    const [power, sum, share] = result.match(/= ([\d.]+); ÷ ([\d.]+), .* = ([\d.]+)$/).slice(1).map(Number);
    assert.ok(sum >= 1 && sum < 5 && power > 0 && power <= 1, result);
    assert.ok(Math.abs(power / sum - share) < 2e-3, result);
  }
});

test("a weight that is no softmax of its row is said to be another", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  array(state, "decoder.0.self.weights").data[25 + 16] += 0.2;
  assert.match(lines(state, "decoder.0.self.weights", 3, 1).at(-1).text, /; here it is/);
});

test("the first difference: −∞ equals itself alone", () => {
  const differs = (mine, right) => {
    const data = [mine, right].flatMap((last) => [1, -Infinity, 2, last]);
    const arrays = { mine: { type: "f4", shape: [2, 1, 2], offset: 0 }, right: { type: "f4", shape: [2, 1, 2], offset: 16 } };
    return firstDifference(makeState({ stacks: [], arrays }, Float32Array.from(data).buffer), { array: "mine", right: "right" });
  };
  assert.equal(differs(1, 1), null);
  assert.equal(differs(-Infinity, -Infinity), null);
  assert.deepEqual(differs(0, -Infinity), { head: 1, row: 0, column: 1, mine: 0, correct: -Infinity });
  assert.ok(differs(NaN, 1) && differs(1, 1.01) && differs(1, 1 + 1e-5));
});

test("what rounding may explain is not the first difference while something larger is there", () => {
  const arrays = { mine: { type: "f4", shape: [1, 3], offset: 0 }, right: { type: "f4", shape: [1, 3], offset: 12 } };
  const state = makeState({ stacks: [], arrays }, Float32Array.from([1, 2, 5, 1.0001, 2, 4]).buffer);
  assert.equal(firstDifference(state, { array: "mine", right: "right" }).column, 2);
});

test("a step with a mistake differs from the right one, and no other step has a right one", () => {
  const state = madeUp({ tokens: 5, layers: 2, wrong: "scaled" });
  const wrong = [...state.steps.values()].filter(({ step }) => step.right).map(({ step }) => step.id);
  assert.deepEqual(wrong, ["decoder.0.self.scaled"]);
  assert.ok(firstDifference(state, find(state, wrong[0]).step));
});

test("cells of a picture fit into its width, and rows are high enough for 12 pixels", () => {
  for (const columns of [4, 12, 64, 384]) {
    const names = Array.from({ length: columns }, (_, index) => `token${index}`);
    const box = grid({ rows: 12, columns }, names.slice(0, 12), names, 640, columns <= 64);
    assert.ok(box.high >= 13);
    assert.ok(columns > 60 || box.width <= 640, `${columns}: ${box.width}`);
  }
});

test("the course's colors: white for 0, the darkest blue for 1, both ends of the signed scale", () => {
  assert.deepEqual(shareParts(0), [255, 255, 255]);
  assert.deepEqual(shareParts(1), [0, 42, 69]);
  assert.deepEqual([signedParts(-1), signedParts(1)], [[107, 44, 0], [0, 47, 77]]);
});

test("numbers in cells are legible: contrast of at least 4.5 on every color of the scales", () => {
  const luminance = (parts) => {
    const [r, g, b] = parts.map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parse = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  for (let part = 0; part <= 1; part += 0.02) {
    for (const color of [shareParts(part), signedParts(part * 2 - 1)]) {
      const [low, high] = [luminance(color), luminance(parse(inkOn(color)))].sort((a, b) => a - b);
      assert.ok((high + 0.05) / (low + 0.05) >= 4.5, `${color}`);
    }
  }
});
