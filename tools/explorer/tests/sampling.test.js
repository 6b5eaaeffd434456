import assert from "node:assert/strict";
import test from "node:test";

import { argmax, draw, probabilities, probabilitiesOfLikely, seeded, softmax } from "../src/sampling.js";

const near = (found, expected) =>
  expected.forEach((each, index) => assert.ok(Math.abs(found[index] - each) < 1e-9, `${[...found]} is not ${expected}`));
const logs = (...shares) => shares.map(Math.log);

test("softmax of large numbers, and of what a mask hides", () => {
  near(softmax([1000, 1000]), [0.5, 0.5]);
  near(softmax([0, -Infinity, 0]), [0.5, 0, 0.5]);
});

test("temperature divides the logits; 0 takes the first of the largest", () => {
  near(probabilities(logs(0.2, 0.8), { temperature: 0.5 }), [0.04 / 0.68, 0.64 / 0.68]);
  near(probabilities([1, 3, 3], { temperature: 0 }), [0, 1, 0]);
});

test("top-k keeps k, and all that tie with the last of them", () => {
  near(probabilities(logs(0.5, 0.3, 0.2), { topK: 2 }), [0.625, 0.375, 0]);
  near(probabilities(logs(0.2, 0.6, 0.2), { topK: 2 }), [0.2, 0.6, 0.2]);
  near(probabilities(logs(0.5, 0.5), { topK: 7 }), [0.5, 0.5]);
  near(probabilities(logs(0.5, 0.5), { topK: 0 }), [0.5, 0.5]);
});

test("top-p keeps the fewest that have p together", () => {
  near(probabilities(logs(0.15, 0.5, 0.35), { topP: 0.6 }), [0, 0.5 / 0.85, 0.35 / 0.85]);
  near(probabilities(logs(0.25, 0.75), { topP: 1 }), [0.25, 0.75]);
  near(probabilities([0, 0, 0, 0], { topP: 0.5 }), [0.5, 0.5, 0, 0]);
});

test("top-p counts what top-k has left", () => {
  near(probabilities(logs(0.4, 0.3, 0.2, 0.1), { topK: 2, topP: 0.55 }), [1, 0, 0, 0]);
});

test("min-p compares with the most probable token", () => {
  near(probabilities(logs(0.6, 0.3, 0.1), { minP: 0.4 }), [2 / 3, 1 / 3, 0]);
  near(probabilities(logs(0.6, 0.4), { minP: 1 }), [1, 0]);
});

test("a list of the most probable tokens is exact where the others cannot count", () => {
  const all = logs(0.5, 0.3, 0.1, 0.06, 0.04);
  const listed = all.slice(0, 3);
  const rest = Math.log(0.1);
  const same = (settings) => {
    const found = probabilitiesOfLikely(listed, rest, settings);
    assert.equal(found.exact, true, JSON.stringify(settings));
    near(found.listed, [...probabilities(all, settings)].slice(0, 3));
    assert.ok(Math.abs(found.rest + found.listed.reduce((a, b) => a + b) - 1) < 1e-9);
  };
  for (const settings of [
    {},
    { topK: 0, topP: 1, minP: 0 },
    { temperature: 0 },
    { topK: 2 },
    { topK: 3, temperature: 2 },
    { topK: 3, topP: 0.6, temperature: 0.7 },
    { topP: 0.7 },
    { topP: 0.85, minP: 0.3 },
    { minP: 0.5 },
    { minP: 0.5, temperature: 1.5 },
  ])
    same(settings);
});

test("and says so where it is not", () => {
  for (const settings of [{ temperature: 2 }, { topP: 0.95 }, { topK: 4 }, { minP: 0.05 }, { topP: 0.7, temperature: 2 }]) {
    const found = probabilitiesOfLikely(logs(0.5, 0.3, 0.1), Math.log(0.1), settings);
    assert.equal(found.exact, false, JSON.stringify(settings));
    assert.ok(Math.abs(found.listed.reduce((a, b) => a + b) - 1) < 1e-9);
  }
});

test("a seed gives the same numbers again, another seed others", () => {
  const three = (seed) => Array.from({ length: 3 }, seeded(seed));
  assert.deepEqual(three(1), three(1));
  assert.notDeepEqual(three(1), three(2));
  const many = Array.from({ length: 20000 }, seeded(5));
  assert.ok(many.every((each) => each >= 0 && each < 1));
  assert.ok(Math.abs(many.reduce((a, b) => a + b) / many.length - 0.5) < 0.01);
});

test("draws are as frequent as probable, and never what has none", () => {
  const random = seeded(3);
  const counts = [0, 0, 0];
  for (let number = 0; number < 10000; number++) counts[draw([0.2, 0, 0.8], random)]++;
  assert.equal(counts[1], 0);
  assert.ok(Math.abs(counts[0] / 10000 - 0.2) < 0.02);
  assert.equal(draw([0, 1, 0], () => 0), 1);
  assert.equal(draw([0.5, 0.5, 0], () => 0.9999999999999999), 1);
});

test("the first of several largest", () => assert.equal(argmax([1, 4, 4]), 1));
