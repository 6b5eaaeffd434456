import assert from "node:assert/strict";
import test from "node:test";

import { cacheBytes, cacheSentence, inBytes, large, multiplications, multiplicationsUpTo } from "../src/cache.js";

const tiny = { sizes: { D: 2, H: 1, K: 2, F: 3, V: 5, L: 1 }, activation: "GELU" };

test("one token costs the same with and without a cache, counted by hand", () => {
  // query, key, value, output: 4 · 2·2; one score and one mixture: 2 + 2; feed-forward: 2 · 2·3; logits: 2·5
  assert.equal(multiplications(tiny, 1, false), 16 + 4 + 12 + 10);
  assert.equal(multiplications(tiny, 1, true), multiplications(tiny, 1, false));
});

test("without a cache every token goes through again, and meets every key", () => {
  assert.equal(multiplications(tiny, 3, false), 3 * (16 + 3 * 4 + 12 + 10));
  assert.equal(multiplications(tiny, 3, true), 16 + 3 * 4 + 12 + 10);
  assert.equal(multiplicationsUpTo(tiny, 3, true), [1, 2, 3].reduce((sum, each) => sum + multiplications(tiny, each, true), 0));
});

test("SwiGLU has three matrices, and shared keys and values are narrower", () => {
  const llama = { sizes: { D: 8, H: 4, G: 2, K: 2, F: 6, V: 0, L: 2 }, activation: "SwiGLU" };
  assert.equal(multiplications(llama, 1, true), 2 * (2 * 64 + 2 * 8 * 4 + 2 * 8 + 3 * 48));
});

test("bytes of the cache as in Exercise 14.6", () => {
  assert.equal(cacheBytes({ H: 32, G: 8, K: 128, L: 32 }, 1), 131072);
  assert.equal(cacheBytes({ H: 12, K: 64, L: 12 }, 1024, 4), 2 * 12 * 12 * 64 * 1024 * 4);
});

test("large numbers are read", () => {
  assert.equal(large(1234), "1,234");
  assert.equal(large(2_500_000), "2.5 million");
  assert.equal(large(1.234e11), "123 billion");
  assert.equal(inBytes(999), "999 bytes");
  assert.equal(inBytes(131072), "131 kB");
});

test("the sentence names the token and both costs", () => {
  assert.match(cacheSentence(tiny, ["a", "b"], 0), /^“a” is the first token/);
  assert.match(cacheSentence(tiny, ["a", "b"], 1), /computes it and the one before it again: 92 multiplications.*: 46, 2.0 times fewer\.$/);
});
