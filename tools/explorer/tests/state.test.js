import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";

import { array, labels, makeState, matrix, pack, readPacked, shown, stepOf, unpack, wordsAt } from "../src/state.js";
import { madeUp } from "./made_up.js";

test("a packed message comes back as it was, numbers aligned", () => {
  const numbers = Float32Array.from([1.5, -Infinity, 3e-8]);
  const back = unpack(pack({ type: "state", number: 4, header: { text: "é ⏎" }, buffer: numbers.buffer }));
  assert.deepEqual([back.type, back.number, back.header], ["state", 4, { text: "é ⏎" }]);
  assert.deepEqual(new Float32Array(back.buffer), numbers);
});

test("a state that stands in a page is read", async () => {
  const made = madeUp({ tokens: 4, layers: 1 });
  const text = deflateSync(Buffer.from(pack({ header: made.header, buffer: made.buffer }))).toString("base64");
  const read = await readPacked(`\n${text}\n`);
  const id = "decoder.0.self.weights";
  assert.deepEqual(array(read, id), array(made, id));
});

test("half precision: ordinary, tiny, infinite", () => {
  const bits = Uint16Array.from([0x3c00, 0xc000, 0x0001, 0xfc00, 0x7e00, 0x3555]);
  const state = makeState({ stacks: [], arrays: { a: { type: "f2", shape: [6], offset: 0 } } }, bits.buffer);
  const { data } = array(state, "a");
  assert.deepEqual([...data.slice(0, 4)], [1, -2, 2 ** -24, -Infinity]);
  assert.ok(Number.isNaN(data[4]));
  assert.ok(Math.abs(data[5] - 1 / 3) < 1e-3);
});

test("an array that was left out is null, and so is what it shows", () => {
  const state = madeUp({ tokens: 4, layers: 1 });
  assert.equal(array(state, null), null);
  assert.equal(shown(state, { array: null, axes: ["token", "column"] }, null), null);
});

test("without a head the mean over heads, in which −∞ stays", () => {
  const found = { shape: [2, 1, 3], data: Float32Array.from([1, -Infinity, 0, 3, -Infinity, 1]) };
  assert.deepEqual([...matrix(found, ["head", "query", "key"], null).data], [2, -Infinity, 0.5]);
  assert.deepEqual([...matrix(found, ["head", "query", "key"], 1).data], [3, -Infinity, 1]);
});

test("with grouped queries several heads share a key", () => {
  const found = { shape: [2, 1, 1], data: Float32Array.from([7, 8]) };
  const values = [0, 1, 2, 3].map((head) => matrix(found, ["head", "key", "column"], head, 4).data[0]);
  assert.deepEqual(values, [7, 7, 8, 8]);
});

test("cross-attention's columns are the encoder's tokens", () => {
  const state = madeUp({ kind: "encoder-decoder", tokens: 7, layers: 1 });
  const [encoder, decoder] = state.header.stacks;
  const names = labels(state, stepOf(state, "decoder", 0, "cross", "weights"), decoder);
  assert.deepEqual([names.rows, names.columns], [decoder.tokens, encoder.tokens]);
  const rows = (kind) => labels(state, stepOf(state, "decoder", 0, "cross", kind), decoder).rows;
  assert.deepEqual([rows("query"), rows("key"), rows("value")], [decoder.tokens, encoder.tokens, encoder.tokens]);
});

test("words after a position: all of a small vocabulary, or the likely ones and the rest", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  const all = wordsAt(state, 2);
  assert.equal(all.words.length, state.header.vocabulary.length);
  assert.equal(all.words[3].logit, array(state, "decoder.output.logits").data[2 * all.words.length + 3]);
  const large = makeState({ ...state.header, vocabulary: null, likely: [[[7, "fox", 2.5]]], rest: [1.25] }, state.buffer);
  assert.deepEqual(wordsAt(large, 0), { words: [{ id: 7, word: "fox", logit: 2.5 }], rest: 1.25 });
  assert.equal(wordsAt(madeUp({ kind: "encoder", tokens: 4, layers: 1 }), 0), null);
});

for (const kind of ["decoder", "encoder", "encoder-decoder"]) {
  test(`the made-up ${kind}: weights sum to 1, nothing sees the future, every step has its numbers`, () => {
    const state = madeUp({ kind, tokens: 6, layers: 2 });
    for (const { step, stack } of state.steps.values()) {
      const found = array(state, step.array);
      assert.equal(found.data.length, found.shape.reduce((a, b) => a * b, 1), step.id);
      if (step.kind !== "weights") continue;
      const [heads, queries, keys] = found.shape;
      for (let row = 0; row < heads * queries; row += 1) {
        const weights = found.data.subarray(row * keys, (row + 1) * keys);
        assert.ok(Math.abs(weights.reduce((a, b) => a + b, 0) - 1) < 1e-5);
        if (step.part === "self" && stack.layers[0].attentions[0].causal) assert.ok(weights.every((weight, key) => key <= row % queries || weight === 0));
      }
    }
  });
}
