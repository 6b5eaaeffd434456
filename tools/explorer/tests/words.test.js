import assert from "node:assert/strict";
import test from "node:test";

import { named, nearestPair, number, percent, sentence, strongest, tableOf, weightSentence, streamLengths, rowNames, writes } from "../src/words.js";
import { madeUp } from "./made_up.js";
import { placeOf, smallState } from "./small_state.js";

const SQUARE = ["head", "query", "key"];
const hidden = -Infinity;

function said(tokens, kind, shape, data, more = {}) {
  const { place = {}, before = [], right, ...header } = more;
  const axes = shape.length === 3 ? SQUARE : ["token", "column"];
  const state = smallState(tokens, [...before, { kind, axes, shape, data, right }], header);
  const id = `decoder.0.self.${kind}`;
  return sentence(state, id, placeOf(state, id, place));
}

test("numbers and shares never say more than they know", () => {
  assert.equal(number(-1.234), "−1.23");
  assert.equal(number(1234.5), "1235");
  assert.equal(number(-0.00001), "−1.0e−5");
  assert.equal(number(0), "0.00");
  assert.equal(number(hidden), "−∞");
  assert.equal(number(NaN), "NaN");
  assert.equal(percent(0.614), "61%");
  assert.equal(percent(0.004), "0.4%");
  assert.equal(percent(0.0004), "less than 0.1%");
  assert.equal(percent(0), "0%");
  assert.equal(percent(0.9999), "more than 99.9%");
  assert.equal(percent(1), "100%");
});

test("a token that stands several times is told apart by its position", () => {
  assert.equal(named(["time", "flies"], 1), "“flies”");
  assert.equal(named(["t", "i", "t"], 2), "“t” (position 2)");
  assert.equal(named([" ", "\n"], 1), "“⏎”");
});

test("the largest weight of a row is named", () => {
  const tokens = ["time", "flies", "arrow"];
  const weights = [1, 0, 0, 0.3, 0.7, 0, 0.14, 0.61, 0.25];
  assert.equal(
    said(tokens, "weights", [1, 3, 3], weights, { place: { query: 2 } }),
    "In head 0 of layer 0, “arrow” gives 61% of its weight to “flies”, then 25% to “arrow”.",
  );
  assert.equal(
    said(tokens, "weights", [1, 3, 3], weights, { place: { query: 1 } }),
    "In head 0 of layer 0, “flies” gives 70% of its weight to “flies”, then 30% to “time”. 1 key gets nothing.",
  );
  assert.equal(
    said(tokens, "weights", [1, 3, 3], weights),
    "In head 0 of layer 0, “time” gives all of its weight to “time”. 2 keys get nothing.",
  );
});

test("the head that is chosen is read, or the mean over heads", () => {
  const two = [0.9, 0.1, 0, 1, 0.1, 0.9, 1, 0];
  const more = { sizes: { H: 2 } };
  assert.match(said(["a", "b"], "weights", [2, 2, 2], two, { ...more, place: { head: 1 } }), /^In head 1 of layer 0, “a” gives 90% .* to “b”/);
  assert.match(said(["a", "b"], "weights", [2, 2, 2], two, { ...more, place: { head: null } }), /^On average over the 2 heads of layer 0, “a” shares its weight equally/);
});

test("ties, and rows that are not weights at all", () => {
  const names = ["a", "b", "c", "d"];
  assert.equal(weightSentence("“x”", [0.25, 0.25, 0.25, 0.25], names), "“x” shares its weight equally among 4 keys, 25% each.");
  assert.equal(weightSentence("“x”", [0.5, 0.5, 0, 0], names), "“x” shares its weight equally among 2 keys, 50% each. 2 keys get nothing.");
  assert.equal(weightSentence("“x”", [0.4, 0.2, 0.4, 0], names), "“x” gives most to “a” and “c”: 40% each. 1 key gets nothing.");
  assert.equal(weightSentence("“x”", [0.8, 0.2, 0.3, 0.1], names), "“x” gives 80% of its weight to “a”, then 30% to “c”. Together the weights are 1.40, and not 1.");
  assert.equal(weightSentence("“x”", [NaN, NaN, NaN, NaN], names), "the weights of “x” are not numbers (NaN).");
  assert.equal(weightSentence("“x”", [1], ["a"]), "“x” gives 100% of its weight to “a”, the only key.");
});

test("scores: the best key, and keys that fit equally well", () => {
  assert.match(said(["a", "b"], "scores", [1, 2, 2], [1, 5.25, 0, 0]), /fits the key of “b” best: their dot product is 5.25/);
  assert.match(said(["a", "b"], "scores", [1, 2, 2], [3, 3, 0, 0]), /fits 2 keys equally well: each score is 3.00/);
});

test("scores: a key that the mask will hide", () => {
  const before = [{ kind: "masked", axes: SQUARE, shape: [1, 2, 2], data: [1, hidden, 0, 0] }];
  assert.match(said(["a", "b"], "scores", [1, 2, 2], [1, 5, 0, 0], { before }), /That key comes later; the mask will hide it\.$/);
  assert.doesNotMatch(said(["a", "b"], "scores", [1, 2, 2], [1, 5, 0, 0]), /mask/);
  assert.doesNotMatch(said(["a", "b"], "scores", [1, 2, 2], [5, 1, 0, 0], { before }), /mask/);
});

test("a share that is next to nothing is not named", () => {
  assert.equal(weightSentence("“x”", [0.999, 0.001], ["a", "b"]), "“x” gives 99.9% of its weight to “a”.");
});

test("scaling is read from the numbers, not from what it should be", () => {
  const before = [{ kind: "scores", axes: SQUARE, shape: [1, 2, 2], data: [4, 8, 0, 2] }];
  assert.match(said(["a", "b"], "scaled", [1, 2, 2], [2, 4, 0, 1], { before }), /^Every score is divided by √K = 2.00\./);
  assert.match(said(["a", "b"], "scaled", [1, 2, 2], [4, 8, 0, 2], { before }), /^The scores stay as they are/);
  assert.match(said(["a", "b"], "scaled", [1, 2, 2], [1, 2, 0, 0.5], { before }), /divided by 4.00; √K is 2.00/);
});

test("a mask is counted", () => {
  const rows = [1, hidden, hidden, 2, 3, hidden, 1, 1, 1];
  const at = (query) => said(["a", "b", "c"], "masked", [1, 3, 3], rows, { place: { query } });
  assert.equal(at(0), "“a” may look at 1 of 3 keys. The other 2 have the score −∞.");
  assert.equal(at(1), "“b” may look at 2 of 3 keys. The other has the score −∞.");
  assert.equal(at(2), "“c” may look at all 3 keys.");
});

const stream = (part, kind, ...data) => ({ part, kind, axes: ["token", "column"], shape: [1, 2], data });

test("a residual is a sum, or it is not", () => {
  const before = [stream("embedding", "embedded", 0, 4), stream("self", "projected", 3, 0)];
  const at = (...data) => said(["a"], "residual", [1, 2], data, { before });
  assert.equal(at(3, 4), "The residual stream of “a” had length 4.00. This part adds a vector of length 3.00; the sum has length 5.00.");
  assert.equal(at(3, 0), "What “a” was before is lost: only what this part returns goes on, a vector of length 3.00.");
  assert.equal(at(8, 6), "The residual stream of “a” now has length 10.0; before this part it had length 4.00.");
});

test("a layer that is switched off leaves what came, after norms too", () => {
  const steps = [stream("embedding", "embedded", 0, 4), stream("self", "projected", 3, 0), stream("self", "residual", 3, 4),
    stream("feed_forward", "feed_forward", 1, 1), stream("feed_forward", "residual", 0, 4)];
  const state = smallState(["a"], steps);
  const id = "decoder.0.feed_forward.residual";
  assert.equal(sentence(state, id, placeOf(state, id)), "The layer does not count: “a” leaves it as it came, with length 4.00.");
  const normed = [...steps.slice(0, 3), stream("self", "norm", 1, 1), stream("feed_forward", "feed_forward", 1, 1), stream("feed_forward", "residual", 2, 2)];
  const post = smallState(["a"], normed, { model: { name: "Small", sizes: { H: 1, K: 4 }, norm: "post" } });
  assert.match(sentence(post, id, placeOf(post, id)), /had length 1\.41\. .* the sum has length 2\.83\.$/);
});

test("a head that is switched off", () => {
  assert.equal(weightSentence("“x”", [0, 0], ["a", "b"]), "“x” gives nothing to any key: all its weights are 0.");
  assert.equal(said(["a"], "masked", [1, 1, 1], [hidden]), "For “a” every key has the score −∞: it has nothing to look at.");
});

test("what a mistake did is said where it is largest", () => {
  const text = said(["a", "b"], "scaled", [1, 2, 2], [1, 2, 3, 4], { right: [1, 2, 3, 8] });
  assert.match(text, /Yours differs most from the right one in the row of “b”: 4.00 instead of 8.00\.$/);
  assert.doesNotMatch(said(["a", "b"], "scaled", [1, 2, 2], [1, 2, 3, 4], { right: [1, 2, 3, 4] }), /Yours/);
});

test("masked entries that are both −∞ are no difference", () => {
  assert.doesNotMatch(said(["a", "b"], "masked", [1, 2, 2], [1, hidden, 3, 4], { right: [1, hidden, 3, 4] }), /Yours/);
});

test("predictions from a list of the most probable tokens", () => {
  const likely = [[[7, "sour", Math.log(0.5)], [2, "sweet", Math.log(0.25)]]];
  const state = smallState(["are"], [{ part: "output", kind: "probabilities", axes: ["token", "word"], shape: [1, 2] }], { likely, rest: [Math.log(0.25)] });
  assert.equal(
    sentence(state, "decoder.output.probabilities", placeOf(state, "")),
    "After “are”, the most probable token is “sour” with 50%. Then comes “sweet” with 25%.",
  );
  assert.deepEqual(tableOf(state, "decoder.output.probabilities", placeOf(state, "")).rows[0].cells, ["sour: 50%", "sweet: 25%", "–"]);
});

test("numbers that are not in the page are not made up", () => {
  const state = smallState(["a"], [{ part: "feed_forward", kind: "inner", axes: ["token", "column"], shape: [1, 8] }]);
  assert.equal(sentence(state, "decoder.0.feed_forward.inner", placeOf(state, "")), "Says inner. Its numbers are not kept in this page.");
  assert.deepEqual(tableOf(state, "decoder.0.feed_forward.inner", placeOf(state, "")).rows, []);
});

test("the nearest pair leaves out a row with itself", () => {
  assert.deepEqual(nearestPair({ rows: 3, columns: 3, data: [1, 0.2, 0.5, 0.2, 1, -1, 0.5, -1, 1] }), { first: 0, second: 2, cosine: 0.5 });
  assert.equal(nearestPair({ rows: 1, columns: 1, data: [1] }), null);
});

test("the strongest entries leave out what is hidden", () => {
  assert.deepEqual(strongest([hidden, 2, NaN, 5]), [3, 1]);
});

test("a small table has every entry, with names of rows and columns", () => {
  const state = smallState(["a", "b"], [{ kind: "masked", axes: SQUARE, shape: [1, 2, 2], data: [1, hidden, 2, 3] }]);
  assert.deepEqual(tableOf(state, "decoder.0.self.masked", placeOf(state, "")), {
    caption: "masked, layer 0, head 0", corner: "query", columns: ["0 a", "1 b"],
    rows: [{ name: "0 a", cells: ["1.00", "hidden"] }, { name: "1 b", cells: ["2.00", "3.00"] }],
  });
});

test("a large table has the strongest entries of each row", () => {
  const state = madeUp({ tokens: 20 });
  const { columns, rows } = tableOf(state, "decoder.1.self.weights", placeOf(state, "", { layer: 1, head: 2 }));
  assert.deepEqual(columns, ["largest", "second", "third"]);
  assert.equal(rows.length, 20);
  assert.equal(rows[0].cells[0].endsWith("100%"), true);
});

for (const kind of ["encoder", "decoder", "encoder-decoder"])
  test(`every step of an ${kind} has a sentence and a table`, () => {
    const state = madeUp({ kind, wrong: "scaled", norm: kind === "decoder" ? "pre" : "post" });
    for (const [id, { layer, stack }] of state.steps)
      for (const head of [null, 1]) {
        const place = { stack: stack.name, layer, attention: "self", head, query: 2, step: id };
        assert.match(sentence(state, id, place), /^[A-Z“].*[.]$/s, id);
        assert.doesNotMatch(sentence(state, id, place), /undefined|NaN|null/, id);
        const table = tableOf(state, id, place);
        assert.ok(table.rows.length > 0 && table.rows.every(({ cells }) => cells.length === table.columns.length), id);
      }
  });

test("the stream's lengths: each part goes on where the one before ended", () => {
  const state = madeUp({ tokens: 4, layers: 2 });
  const all = streamLengths(state, state.header.stacks[0], 2);
  assert.deepEqual(all.map(({ layer, part }) => `${layer} ${part}`), ["0 self", "0 feed_forward", "1 self", "1 feed_forward"]);
  all.slice(1).forEach(({ came }, index) => assert.ok(Math.abs(came - all[index].sum) < 1e-6));
  for (const { came, added, sum } of all) assert.ok(sum <= came + added + 1e-6 && added > 0);
});

test("a decoder's row says which token it reads, and in cross-attention which one it writes", () => {
  const state = madeUp({ kind: "encoder-decoder" });
  const [encoder, decoder] = state.header.stacks;
  const step = (stack, part) => stack.layers[0].steps.find((one) => one.kind === "weights" && one.part === part);
  const { word, probability } = writes(state, "decoder", 1);
  assert.ok(probability > 0);
  assert.ok(rowNames(state, step(decoder, "cross"), decoder, decoder.tokens)[1].endsWith(` → ${word.replace(" ", "␣").replace("\n", "⏎")}`));
  assert.equal(rowNames(state, step(decoder, "self"), decoder, decoder.tokens), decoder.tokens);
  assert.equal(writes(state, encoder.name, 0), null);
});
