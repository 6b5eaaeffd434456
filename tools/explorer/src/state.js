// A state: the header that says what was computed, and one buffer with all numbers.

const TYPES = { f4: 4, f2: 2 };

let halves = null;

/** The 65,536 numbers of half precision, as single precision. */
function halfTable() {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits += 1) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) halves[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) halves[bits] = fraction ? NaN : sign * Infinity;
    else halves[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return halves;
}

/** A state of a header and its buffer. Numbers are read when they are first asked for. */
export function makeState(header, buffer) {
  const steps = new Map();
  for (const stack of header.stacks) {
    for (const step of stack.embedding) steps.set(step.id, { step, stack, layer: null });
    stack.layers.forEach((one, layer) => {
      for (const step of one.steps) steps.set(step.id, { step, stack, layer });
    });
    for (const step of stack.output) steps.set(step.id, { step, stack, layer: null });
  }
  return { header, buffer, steps, read: new Map() };
}

/** An array by its name: `{shape, data}`; null where the state does not have it. */
export function array(state, id) {
  if (id === null || id === undefined) return null;
  const known = state.read.get(id);
  if (known) return known;
  const where = state.header.arrays[id];
  if (!where) return null;
  const length = where.shape.reduce((product, size) => product * size, 1);
  const bytes = length * TYPES[where.type];
  const aligned = where.offset % TYPES[where.type] === 0;
  const buffer = aligned ? state.buffer : state.buffer.slice(where.offset, where.offset + bytes);
  const offset = aligned ? where.offset : 0;
  let data;
  if (where.type === "f4") {
    data = new Float32Array(buffer, offset, length);
  } else {
    const table = halfTable();
    data = Float32Array.from(new Uint16Array(buffer, offset, length), (bits) => table[bits]);
  }
  const found = { shape: where.shape, data };
  state.read.set(id, found);
  return found;
}

/** A step, its stack and its layer (null in embedding and output) by the step's id; null where there is none. */
export const find = (state, id) => state.steps.get(id) ?? null;

/** A stack by name. */
export const stackOf = (state, name) => state.header.stacks.find((stack) => stack.name === name) ?? null;

/** The step of a kind in one part of a layer; `layer` may be null for embedding and output. */
export function stepOf(state, stack, layer, part, kind) {
  const where = layer === null ? `${stack}.${part}.${kind}` : `${stack}.${layer}.${part}.${kind}`;
  return state.steps.get(where)?.step ?? null;
}

/**
 * One matrix of an array: `{rows, columns, data}`. With heads: that of one head (of `heads`), or for `head` null the mean
 * over heads, in which −∞ stays −∞.
 */
export function matrix(found, axes, head, heads = found.shape[0]) {
  const { shape, data } = found;
  const [rows, columns] = shape.length === 1 ? [1, shape[0]] : shape.slice(-2);
  const size = rows * columns;
  if (axes[0] !== "head" || shape.length < 3) return { rows, columns, data };
  if (head !== null) {
    const group = Math.floor((head * shape[0]) / heads); // grouped queries: several heads share a key and a value
    return { rows, columns, data: data.subarray(group * size, (group + 1) * size) };
  }
  const mean = new Float32Array(size);
  for (let one = 0; one < shape[0]; one += 1) {
    for (let index = 0; index < size; index += 1) mean[index] += data[one * size + index] / shape[0];
  }
  return { rows, columns, data: mean };
}

/** The head that a step shows: weights have a mean over heads (null), all else is never averaged and shows head 0. */
export const headShown = (step, head) => (step.axes[0] === "head" && step.kind !== "weights" ? (head ?? 0) : head);

/** The matrix that a step shows (or, with `which` "right", should show); kept, as pictures ask for it again and again. */
export function shown(state, step, chosen, which = "array") {
  const head = headShown(step, chosen);
  const key = `${step[which]}|${step.axes[0] === "head" ? head : ""}|matrix`;
  const known = state.read.get(key);
  if (known) return known;
  const found = array(state, step[which]);
  if (!found) return null;
  const made = matrix(found, step.axes, head, state.header.model.sizes.H);
  state.read.set(key, made);
  return made;
}

const OF_KEYS = new Set(["key", "value", "turned_key"]); // their tokens are those that are attended to

/** Names of rows and columns of a step's matrix. */
export function labels(state, step, stack) {
  const name = (axis, place, size) => {
    const ofKeys = axis === "key" || (axis === "token" && OF_KEYS.has(step.kind));
    if ((axis === "token" && !ofKeys) || axis === "query") return stack.tokens;
    if (ofKeys) {
      const attention = stack.layers[0]?.attentions.find((one) => one.name === step.part);
      return (stackOf(state, attention?.keys ?? stack.name) ?? stack).tokens;
    }
    if (axis === "word") return state.header.vocabulary ?? Array.from({ length: size }, (_, index) => `#${index}`);
    return Array.from({ length: size }, (_, index) => String(index));
  };
  const axes = step.axes.filter((axis) => axis !== "head");
  const shape = array(state, step.array)?.shape.slice(-2) ?? [0, 0];
  const similarity = step.kind === "similarity";
  return {
    axes,
    rows: name(axes[0], 0, shape[0]),
    columns: similarity ? stack.tokens : name(axes[1], 1, shape[1]),
  };
}

/** How text is drawn: blanks and line breaks are seen. */
export function visible(token) {
  if (token === "\n") return "⏎";
  if (token === " ") return "␣";
  return token.replaceAll("\n", "⏎").replace(/^ /, "␣");
}

/**
 * A packed message: 4 bytes with the length of its JSON (little endian), the JSON, zeros up to a multiple of 8, the
 * buffer. Its JSON is the message without `buffer`.
 */
export function unpack(bytes) {
  const length = new DataView(bytes).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  return { ...message, buffer: bytes.slice(Math.ceil((4 + length) / 8) * 8) };
}

/** What `unpack` reads. */
export function pack({ buffer, ...message }) {
  const json = new TextEncoder().encode(JSON.stringify(message));
  const start = Math.ceil((4 + json.length) / 8) * 8;
  const bytes = new Uint8Array(start + buffer.byteLength);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  bytes.set(new Uint8Array(buffer), start);
  return bytes.buffer;
}

/** A state that stands in a page: a packed message, compressed (zlib), in base64. */
export async function readPacked(text) {
  const letters = atob(text.trim());
  const compressed = new Uint8Array(letters.length);
  for (let index = 0; index < letters.length; index += 1) compressed[index] = letters.charCodeAt(index);
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { header, buffer } = unpack(await new Response(stream).arrayBuffer());
  return makeState(header, buffer);
}

/**
 * What may come after a position: `{words: [{id, word, logit}], rest}`, every word of the vocabulary (`rest` null), or the
 * most probable ones and the logsumexp of all others. Null where the model predicts nothing.
 */
export function wordsAt(state, query) {
  const { header } = state;
  const stack = header.stacks.at(-1);
  if (header.likely) {
    return { words: header.likely[query].map(([id, word, logit]) => ({ id, word, logit })), rest: header.rest[query] };
  }
  const step = stack.output.find((one) => one.kind === "logits");
  const found = step && header.vocabulary ? shown(state, step, null) : null;
  if (!found) return null;
  const words = header.vocabulary.map((word, id) => ({ id, word, logit: found.data[query * found.columns + id] }));
  return { words, rest: null };
}

/** The last vectors of one part of a layer: the residual stream as it goes on. */
export function streamAfter(steps, part) {
  return steps.findLast((step) => step.part === part && step.axes[0] === "token" && (step.kind === "residual" || step.kind === "norm")) ?? null;
}

/**
 * Where a step first differs from the right one by more than rounding (a thousandth of the largest number), or else most:
 * `{head, row, column, mine, correct}`, `head` null where the step has none. Null where nothing differs, or nothing is
 * there to compare.
 */
export function firstDifference(state, step) {
  const yours = array(state, step.array);
  const right = array(state, step.right);
  if (!yours || !right) return null;
  const largest = right.data.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
  let index = -1;
  let most = 0;
  for (let at = 0; at < yours.data.length; at += 1) {
    const [mine, correct] = [yours.data[at], right.data[at]];
    if (Object.is(mine, correct)) continue;
    const size = Number.isFinite(mine) && Number.isFinite(correct) ? Math.abs(mine - correct) : Infinity;
    if (size > most) {
      most = size;
      index = at;
    }
    if (size > largest / 1000) break;
  }
  if (index < 0) return null;
  const [rows, columns] = yours.shape.slice(-2);
  const heads = state.header.model?.sizes.H ?? yours.shape[0];
  const head = yours.shape.length > 2 ? Math.floor((Math.floor(index / (rows * columns)) * heads) / yours.shape[0]) : null;
  return { head, row: Math.floor(index / columns) % rows, column: index % columns, mine: yours.data[index], correct: right.data[index] };
}
