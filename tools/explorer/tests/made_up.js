// A small Transformer with random weights, from a seed: states of all three kinds for tests and for looking at the page.

import { makeState } from "../src/state.js";

/** Random numbers 0…1 from a seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const WORDS = "time flies like an arrow ; fruit flies like a banana . the fox saw grapes and said they are sour".split(" ");
const LETTERS = [..."\n abcdefghijklmnopqrstuvwxyz.,-0123456789"];

function normal(next) {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

const filled = (next, rows, columns, size) => Float32Array.from({ length: rows * columns }, () => normal(next) * size);

function product(left, right, rows, inner, columns) {
  const made = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    for (let index = 0; index < inner; index += 1) {
      const factor = left[row * inner + index];
      for (let column = 0; column < columns; column += 1) made[row * columns + column] += factor * right[index * columns + column];
    }
  }
  return made;
}

const plus = (left, right) => left.map((value, index) => value + right[index]);

function normed(data, rows, columns) {
  const made = new Float32Array(data.length);
  for (let row = 0; row < rows; row += 1) {
    const part = data.subarray(row * columns, (row + 1) * columns);
    const mean = part.reduce((sum, value) => sum + value, 0) / columns;
    const spread = Math.sqrt(part.reduce((sum, value) => sum + (value - mean) ** 2, 0) / columns + 1e-5);
    for (let column = 0; column < columns; column += 1) made[row * columns + column] = (part[column] - mean) / spread;
  }
  return made;
}

function softmax(data, columns) {
  const made = new Float32Array(data.length);
  for (let start = 0; start < data.length; start += columns) {
    const part = data.subarray(start, start + columns);
    const most = Math.max(...part);
    const powers = part.map((value) => Math.exp(value - most));
    const sum = powers.reduce((total, value) => total + value, 0);
    powers.forEach((value, index) => (made[start + index] = value / sum));
  }
  return made;
}

function byHead(data, T, H, K) {
  const made = new Float32Array(data.length);
  for (let head = 0; head < H; head += 1) {
    for (let token = 0; token < T; token += 1) {
      for (let index = 0; index < K; index += 1) made[(head * T + token) * K + index] = data[token * H * K + head * K + index];
    }
  }
  return made;
}

const SAYS = {
  token_vectors: ["Token vectors", "embedding[ids]", "Each token's row of the embedding table."],
  positions: ["Positions", "positions[0 … T−1]", "Each position has a vector of its own."],
  embedded: ["Embedded", "token_vectors + positions", "What a token is, and where it stands, in one vector."],
  norm: ["Norm", "(x − mean) ÷ std · γ + β", "Each vector gets mean 0 and variance 1."],
  query: ["Query", "x · W_q + b_q", "What each token looks for."],
  key: ["Key", "x · W_k + b_k", "What each token offers to be found by."],
  value: ["Value", "x · W_v + b_v", "What each token hands over."],
  scores: ["Scores", "Q · Kᵀ", "Each query is compared with each key."],
  scaled: ["Scaled", "scores ÷ √K", "Divided by the root of the key's size."],
  masked: ["Masked", "scaled, −∞ where key > query", "No token sees a later one."],
  weights: ["Softmax", "softmax(masked)", "Each row becomes positive and sums to 1."],
  mixed: ["Mixed values", "weights · V", "Each token mixes the values by its weights."],
  joined: ["Concatenated", "concat(heads)", "The heads' results side by side."],
  projected: ["Projected", "joined · W_o + b_o", "One more linear layer mixes the heads."],
  residual: ["Residual", "x + result", "The result is added to the residual stream."],
  inner: ["Inner", "x · W_1 + b_1", "Four times as wide."],
  activated: ["Activated", "GELU(inner)", "What is negative almost vanishes."],
  feed_forward: ["Feed-forward", "activated · W_2 + b_2", "Back to the model's width."],
  logits: ["Logits", "x · Embeddingᵀ", "One number for each word."],
  probabilities: ["Probabilities", "softmax(logits)", "How probable each word is as the next."],
  similarity: ["Similarity", "cos(xᵢ, xⱼ)", "The cosine of each pair of last vectors."],
};

const EXERCISES = {
  weights: { name: "masked_attention", number: "9.2", notebook: "09-causal-mask" },
  scores: { name: "attention_scores", number: "2.3", notebook: "02-attention-scores" },
};
const CODE = {
  weights: { of: "masked_attention", number: 7, yours: true, line: "return scores.softmax(dim=-1) @ value  # (B, H, T, K)" },
  scores: { of: "attention_scores", number: 3, yours: true, line: "scores = query @ key.transpose(-2, -1)  # (B, H, T, S)" },
};

/**
 * A state of a made-up model. `kind`: "decoder", "encoder", "encoder-decoder"; `wrong`: "scaled" gives scores that are
 * divided by K, with the right ones beside them, in the first layer.
 */
export function madeUp({ kind = "decoder", tokens = 8, layers = 3, heads = 4, width = 32, words = false, norm = "pre",
  seed = 7, wrong = null, text = null, changes = [], half = false } = {}) {
  const next = random(seed);
  const D = width, H = heads, K = width / heads, F = 4 * width;
  const vocabulary = words ? [...new Set(WORDS)] : LETTERS;
  const V = vocabulary.length;
  const arrays = {};
  const chunks = [];
  let offset = 0;

  function keep(id, shape, data) {
    const array = half && shape.length < 3 ? toHalf(data) : Float32Array.from(data);
    arrays[id] = { type: array instanceof Uint16Array ? "f2" : "f4", shape, offset };
    chunks.push([offset, array]);
    offset += Math.ceil(array.byteLength / 4) * 4;
    return id;
  }

  function step(id, part, kind_, axes, shape, data, right = null) {
    const [title, formula, says] = SAYS[kind_];
    const names = axes.map((axis) => ({ token: "T", query: "T", key: "S", column: "D", head: "H", word: "V" })[axis]);
    return { id, kind: kind_, part, title, says, formula, shapes: `(${names.join(", ")}) = (${shape.join(", ")})`, axes,
      array: keep(id, shape, data), right: right && keep(`${id}.right`, shape, right),
      exercise: EXERCISES[kind_] ?? null, code: CODE[kind_] ?? null };
  }

  const tables = { embedding: filled(next, V, D, 0.6), positions: filled(next, 256, D, 0.25) };

  function stackOf(name, ids, causal, memory) {
    const T = ids.length;
    const vectors = new Float32Array(T * D);
    ids.forEach((id, row) => vectors.set(tables.embedding.subarray(id * D, (id + 1) * D), row * D));
    const positions = tables.positions.slice(0, T * D);
    let x = plus(vectors, positions);
    const at = (kind_, data) => step(`${name}.embedding.${kind_}`, "embedding", kind_, ["token", "column"], [T, D], data);
    const embedding = [at("token_vectors", vectors), at("positions", positions), at("embedded", x)];
    const made = [];

    function attend(layer, part, keys, S, masked, sharp) {
      const steps = [];
      const add = (kind_, axes, shape, data, right) => steps.push(step(`${name}.${layer}.${part}.${kind_}`, part, kind_, axes, shape, data, right));
      let given = x;
      if (norm === "pre") {
        given = normed(x, T, D);
        add("norm", ["token", "column"], [T, D], given);
      }
      const source = keys ?? given;
      const linear = () => filled(next, D, D, 1 / Math.sqrt(D));
      const query = byHead(product(given, linear(), T, D, D), T, H, K).map((value) => value * sharp);
      const key = byHead(product(source, linear(), S, D, D), S, H, K).map((value) => value * sharp);
      const value = byHead(product(source, linear(), S, D, D), S, H, K);
      add("query", ["head", "token", "column"], [H, T, K], query);
      add("key", ["head", "token", "column"], [H, S, K], key);
      add("value", ["head", "token", "column"], [H, S, K], value);
      const scores = new Float32Array(H * T * S);
      const mixed = new Float32Array(H * T * K);
      for (let head = 0; head < H; head += 1) {
        for (let i = 0; i < T; i += 1) {
          for (let j = 0; j < S; j += 1) {
            let sum = 0;
            for (let k = 0; k < K; k += 1) sum += query[(head * T + i) * K + k] * key[(head * S + j) * K + k];
            scores[(head * T + i) * S + j] = sum;
          }
        }
      }
      const right = scores.map((score) => score / Math.sqrt(K));
      const mistaken = wrong === "scaled" && layer === 0;
      const scaled = mistaken ? scores.map((score) => score / K) : right;
      const hidden = scaled.map((score, index) => (masked && index % S > Math.floor(index / S) % T ? -Infinity : score));
      const weights = softmax(hidden, S);
      for (let head = 0; head < H; head += 1) {
        mixed.set(product(weights.subarray(head * T * S, (head + 1) * T * S), value.subarray(head * S * K, (head + 1) * S * K), T, S, K), head * T * K);
      }
      const square = ["head", "query", "key"];
      add("scores", square, [H, T, S], scores);
      add("scaled", square, [H, T, S], scaled, mistaken ? right : null);
      if (masked) add("masked", square, [H, T, S], hidden);
      add("weights", square, [H, T, S], weights);
      add("mixed", ["head", "token", "column"], [H, T, K], mixed);
      const joined = new Float32Array(T * D);
      for (let head = 0; head < H; head += 1) {
        for (let i = 0; i < T; i += 1) joined.set(mixed.subarray((head * T + i) * K, (head * T + i + 1) * K), i * D + head * K);
      }
      const flat = ["token", "column"];
      const projected = product(joined, linear(), T, D, D);
      add("joined", flat, [T, D], joined);
      add("projected", flat, [T, D], projected);
      x = plus(x, projected);
      add("residual", flat, [T, D], x);
      if (norm === "post") {
        x = normed(x, T, D);
        add("norm", flat, [T, D], x);
      }
      return steps;
    }

    function feedForward(layer) {
      const steps = [];
      const add = (kind_, columns, data) => steps.push(step(`${name}.${layer}.feed_forward.${kind_}`, "feed_forward", kind_, ["token", "column"], [T, columns], data));
      let given = x;
      if (norm === "pre") {
        given = normed(x, T, D);
        add("norm", D, given);
      }
      const inner = product(given, filled(next, D, F, 1 / Math.sqrt(D)), T, D, F);
      const activated = inner.map((value) => value / (1 + Math.exp(-1.702 * value)));
      const result = product(activated, filled(next, F, D, 1 / Math.sqrt(F)), T, F, D);
      add("inner", F, inner);
      add("activated", F, activated);
      add("feed_forward", D, result);
      x = plus(x, result);
      add("residual", D, x);
      if (norm === "post") {
        x = normed(x, T, D);
        add("norm", D, x);
      }
      return steps;
    }

    for (let layer = 0; layer < layers; layer += 1) {
      const attentions = [{ name: "self", keys: name, causal }];
      const steps = attend(layer, "self", null, T, causal, 1.3 + 0.2 * layer);
      if (memory) {
        attentions.push({ name: "cross", keys: memory.name, causal: false });
        steps.push(...attend(layer, "cross", memory.x, memory.T, false, 1.6));
      }
      steps.push(...feedForward(layer));
      made.push({ steps, attentions });
    }
    return { stack: { name, tokens: ids.map((id) => vocabulary[id]), embedding, layers: made, output: [] }, x, T };
  }

  const some = (count, salt) => Array.from({ length: count }, (_, index) => (words ? index % V : (index * 7 + salt * 3 + 2) % V));
  const ids = text ? [...text].map((letter) => Math.max(0, vocabulary.indexOf(letter))) : some(tokens, seed % 5);
  const stacks = [];
  let last = null;
  if (kind !== "decoder") {
    last = stackOf("encoder", ids, false, null);
    stacks.push(last.stack);
  }
  if (kind === "decoder") last = stackOf("decoder", ids, true, null);
  if (kind === "encoder-decoder") last = stackOf("decoder", some(Math.max(3, tokens - 2), 1), true, { name: "encoder", x: last.x, T: last.T });
  if (kind !== "encoder") stacks.push(last.stack);
  const { stack, T } = last;
  const final = normed(last.x, T, D);
  if (norm === "pre") stack.output.push(step(`${stack.name}.output.norm`, "output", "norm", ["token", "column"], [T, D], final));
  if (kind === "encoder") {
    const unit = normed(final, T, D).map((value) => value / Math.sqrt(D));
    const across = new Float32Array(D * T);
    for (let i = 0; i < T; i += 1) for (let d = 0; d < D; d += 1) across[d * T + i] = unit[i * D + d];
    stack.output.push(step("encoder.output.similarity", "output", "similarity", ["token", "token"], [T, T], product(unit, across, T, D, T)));
  } else {
    const table = new Float32Array(D * V);
    for (let v = 0; v < V; v += 1) for (let d = 0; d < D; d += 1) table[d * V + v] = tables.embedding[v * D + d];
    const logits = product(final, table, T, D, V).map((value) => value * 0.8);
    stack.output.push(step(`${stack.name}.output.logits`, "output", "logits", ["token", "word"], [T, V], logits));
    stack.output.push(step(`${stack.name}.output.probabilities`, "output", "probabilities", ["token", "word"], [T, V], softmax(logits, V)));
  }
  const buffer = new ArrayBuffer(offset);
  for (const [start, data] of chunks) {
    new Uint8Array(buffer).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), start);
  }
  const join = (tokens_) => tokens_.join(words ? " " : "");
  const header = {
    format: 1, kind,
    model: { name: { decoder: "GPT", encoder: "Encoder", "encoder-decoder": "Seq2Seq" }[kind], sizes: { D, H, G: H, K, F, V, L: layers },
      norm, activation: "GELU", positions: "learned" },
    text: join(stacks[0].tokens), written: kind === "encoder-decoder" ? join(stacks[1].tokens) : null,
    changes, stacks, vocabulary, likely: null, rest: null, arrays, left_out: [],
  };
  return makeState(header, buffer);
}

function toHalf(data) {
  const bits = new Uint32Array(1);
  const single = new Float32Array(bits.buffer);
  return Uint16Array.from(data, (value) => {
    single[0] = value;
    const sign = (bits[0] >>> 16) & 0x8000;
    const exponent = ((bits[0] >>> 23) & 255) - 112;
    if (exponent >= 31) return sign | 0x7c00;
    if (exponent <= 0) return sign | Math.round(Math.abs(value) * 2 ** 24);
    return (sign | (exponent << 10) | ((bits[0] >>> 13) & 1023)) + ((bits[0] >>> 12) & 1);
  });
}
