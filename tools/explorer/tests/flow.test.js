import assert from "node:assert/strict";
import test from "node:test";

import { chances } from "../src/chances.js";
import { flow, onRibbon, ribbons, rowHeight } from "../src/flow.js";
import { array } from "../src/state.js";
import { madeUp } from "./made_up.js";

for (const kind of ["decoder", "encoder", "encoder-decoder"]) {
  for (const width of [700, 1300]) {
    test(`${kind}, ${width} pixels: columns stand in order and inside`, () => {
      const geometry = flow(madeUp({ kind, tokens: 12, layers: 6, heads: 2, width: 8 }), width);
      for (const { columns, y, label } of geometry.stacks) {
        columns.reduce((end, column) => {
          assert.ok(column.x >= end, `${column.layer} ${column.part}`);
          return column.x + column.width;
        }, label);
        assert.ok(columns.at(-1).x + columns.at(-1).width < width - 100);
        assert.ok(y.at(-1) < geometry.height);
      }
    });
  }
}

test("rows of 64 tokens still hold a label of 12 pixels", () => assert.equal(rowHeight(64), 14));

test("a ribbon is as wide as its weight, and a query's ribbons fill its row", () => {
  const state = madeUp({ tokens: 6, layers: 2, heads: 2, width: 8 });
  const geometry = flow(state, 1000);
  const [{ row, y }] = geometry.stacks;
  const links = ribbons(state, geometry, "decoder", 1, "self", 1, 0);
  const { data } = array(state, "decoder.1.self.weights");
  for (const link of links) {
    assert.equal(link.weight, data[36 + link.query * 6 + link.key]);
    assert.ok(Math.abs(link.width - link.weight * row * 0.86) < 1e-9);
    assert.ok(Math.abs(link.y1 - y[link.query]) <= row / 2);
    assert.ok(Math.abs(link.y0 - y[link.key]) <= row / 2);
  }
  const full = links.filter((link) => link.query === 5).reduce((sum, link) => sum + link.width, 0);
  assert.ok(Math.abs(full - row * 0.86) < 1e-4);
});

test("cross-attention's ribbons come from the encoder's last column", () => {
  const state = madeUp({ kind: "encoder-decoder", tokens: 6, layers: 2, heads: 2, width: 8 });
  const geometry = flow(state, 1000);
  const [encoder, decoder] = geometry.stacks;
  const [link] = ribbons(state, geometry, "decoder", 1, "cross", null, 0);
  assert.equal(link.source.x1, encoder.columns.at(-1).x + encoder.columns.at(-1).width);
  assert.equal(link.target.x0, decoder.columns.find((one) => one.layer === 1 && one.part === "cross").x);
});

test("the uncut words have the model's own probabilities, the most probable first", () => {
  const state = madeUp({ tokens: 5, layers: 1 });
  const { data, shape } = array(state, "decoder.output.probabilities");
  const { words } = chances(state, 3, { temperature: 1, topK: 0, topP: 1, minP: 0 });
  for (const { id, p } of words) assert.ok(Math.abs(p - data[3 * shape[1] + id]) < 1e-6);
  assert.deepEqual(words.map((one) => one.p), words.map((one) => one.p).sort((a, b) => b - a));
});

test("a point on a ribbon's curve is on it, one beside it is not", () => {
  const link = { source: { x1: 100 }, target: { x0: 300 }, y0: 20, y1: 120, width: 6 };
  for (const t of [0, 0.2, 0.5, 0.9, 1]) {
    const x = 100 * (1 - t) ** 3 + 600 * t * (1 - t) ** 2 + 600 * t ** 2 * (1 - t) + 300 * t ** 3;
    const y = 20 * (1 - t) ** 3 + 60 * t * (1 - t) ** 2 + 360 * t ** 2 * (1 - t) + 120 * t ** 3;
    assert.ok(onRibbon(link, x, y) && onRibbon(link, x, y + 3) && !onRibbon(link, x, y + 8), String(t));
  }
  assert.ok(!onRibbon(link, 99, 20) && !onRibbon(link, 301, 120));
});
