/* A guided reading: small steps that point at the page and say what this state's numbers show. */

import { labelOf } from "./changes.js";
import { el, still } from "./draw.js";
import { announce } from "./region.js";
import { array, matrix, stackOf, stepOf, visible } from "./state.js";
import { plain, withTerms } from "./terms.js";
import { listed, named, percent, predicted, sentence, strongest } from "./words.js";

/* ——— what is said ——— */

const times = (count, one, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;

/**
 * The token and head that a reading of one attention follows: where one token looks at another far more than an even
 * share would be. `{query, key, head, weight}`.
 */
export function worthReading(state, stack, layer, attention) {
  const step = stepOf(state, stack, layer, attention, "weights");
  const found = step && array(state, step.array);
  const keysElsewhere = attention === "cross";
  const last = stackOf(state, stack).tokens.length - 1;
  let best = null;
  if (!found) return { query: last, key: 0, head: 0, weight: null };
  for (let head = 0; head < found.shape[0]; head++) {
    const { rows, columns, data } = matrix(found, step.axes, head);
    for (let query = Math.min(2, rows - 1); query < rows; query++) {
      const open = data.subarray(query * columns, (query + 1) * columns).filter((each) => each > 0).length;
      for (let key = 0; key < columns; key++) {
        const weight = data[query * columns + key];
        const more = weight - 1 / open;
        if ((keysElsewhere || key !== query) && weight < 0.9995 && !(more <= best?.more)) best = { query, key, head, weight, more };
      }
    }
  }
  return best ?? { query: last, key: 0, head: 0, weight: null };
}

/** What each head of a layer looks at most, for one token: `[{head, key, weight}, …]`. */
export function headsOf(state, stack, layer, attention, query) {
  const step = stepOf(state, stack, layer, attention, "weights");
  const found = step && array(state, step.array);
  if (!found) return [];
  return Array.from({ length: found.shape[0] }, (_, head) => {
    const { columns, data } = matrix(found, step.axes, head);
    const row = data.subarray(query * columns, (query + 1) * columns);
    const key = strongest(row, 1)[0];
    return { head, key, weight: row[key] };
  });
}

function headsSentence(state, stack, layer, attention, query, keys) {
  const all = headsOf(state, stack, layer, attention, query);
  if (!all.length) return "";
  const me = named(stackOf(state, stack).tokens, query);
  if (all.length === 1) return "This layer has one head.";
  const first = all[0];
  const other = all.find((each) => each.key !== first.key);
  const look = ({ head, key, weight }) => `head ${head} most at ${named(keys, key)} (${percent(weight)})`;
  return other
    ? `${me} looks with ${look(first)}, and with ${look(other)}.`
    : `With all ${all.length} heads, ${me} looks most at ${named(keys, first.key)}.`;
}

/**
 * The steps of a reading: `[{title, text, target, place}, …]`. `target` is the `data-tour` of what a step speaks about,
 * `place` what it chooses there; the numbers in `text` are those of the state, at that place. `runs` says how many runs
 * the page keeps; Infinity where the model runs.
 */
export function tourOf(state, runs = Infinity) {
  const { kind } = state.header;
  const parts = { encoder: encoderTour, decoder: decoderTour, "encoder-decoder": bothTour }[kind];
  return parts(state).filter(Boolean).map((step) => (step.target === "changes" ? takeAway(step.place, runs) : step)).filter(Boolean);
}

/** That a state is of a changed model, where it is. */
function changed(state) {
  const changes = (state.header.changes ?? []).map((id) => labelOf(id, [], state));
  return changes.length ? `It runs ${listed(changes)}: all numbers of this reading are those of the changed model. ` : "";
}

/** Steps that all kinds share, for one stack. */
function chapters(state, stackName) {
  const { model } = state.header;
  const { H, G = H, K, D, F, L } = model.sizes;
  const stack = stackOf(state, stackName);
  const { tokens } = stack;
  const self = worthReading(state, stackName, 0, "self");
  const me = named(tokens, self.query);
  const base = { stack: stackName, attention: "self", query: self.query, head: self.head };
  const at = (layer, part, what) => stepOf(state, stackName, layer, part, what);
  /** A step of the reading at a step of the model; none where the model has no such step. */
  const read = (title, target, layer, part, what, text, more = {}) => {
    const step = at(layer, part, what);
    if (!step) return null;
    const place = { ...base, layer, step: step.id, ...more };
    return { title, target, place, text: `${text} ${sentence(state, step.id, place)}`.trim() };
  };
  return {
    stack, tokens, self, me, base, at, read,
    text: () => ({
      title: "One text, all the way",
      target: "text",
      place: { ...base, layer: 0, step: (at(0, "self", "weights") ?? stack.layers[0].steps[0]).id },
      text:
        `${model.name} reads “${visible(state.header.text)}”. It has ${times(L, "layer")} with ${times(H, "head")} each, and represents each token by ${D} numbers. ` +
        changed(state) +
        "Layers, heads and positions are counted from 0, as in Python.",
    }),
    tokens_: () => ({
      title: "Tokens",
      target: "tokens",
      place: { ...base, layer: 0 },
      text: `The text is cut into ${tokens.length} {token|${tokens.length === 1 ? "token" : "tokens"}}. We follow one of them: ${me}${me.endsWith(")") ? "" : `, at position ${self.query}`}. You can choose another one at any time.`,
    }),
    embedding: () => read("A row for each token", "embedding", null, "embedding", "token_vectors", "A token comes in as its {embedding}."),
    positions: () =>
      read("Where it stands", "embedding", null, "embedding", "positions", "Without positions, the tokens that a query may attend to would be a set without an order. So each {position} adds a vector of its own.") ??
      (model.positions === "rotary"
        ? read("Where it stands", "matrix", 0, "self", "turned_query", "This model adds no vector for the {position}: it turns queries and keys instead.")
        : null),
    vectors: () =>
      read("Query, key and value", "matrix", 0, "self", "query",
        `Three linear layers make three vectors of each token: a {query} says what it looks for, a {key} by what it can be found, a {value} what it hands over.`),
    scores: () => read("Scores", "matrix", 0, "self", "scores", "Each query meets each key: their dot product is the {score}."),
    scaled: () => read("Divided by √K", "matrix", 0, "self", "scaled", "The {scaling} keeps scores small, so that the softmax does not give everything to one key."),
    masked: () =>
      read("The mask", "matrix", 0, "self", "masked", "A decoder must not see what it is asked to predict. The {mask} hides later tokens.",
        self.query === tokens.length - 1 ? { query: Math.floor(self.query / 2) } : {}) ?? // from the last token nothing is hidden
      (stackName === "decoder" ? null : { title: "No mask", target: "matrix", place: { ...base, layer: 0 }, text: "An encoder has no causal mask: every token may read every token, on both sides." }),
    weights: () => read("Attention weights", "matrix", 0, "self", "weights", "The {softmax} turns each row of scores into {attention weight|attention weights}, which are positive and sum to 1."),
    mixed: () => read("Mixing the values", "matrix", 0, "self", "mixed", "With these weights the values are added up."),
    heads: () => ({
      title: "Several heads",
      target: "heads",
      place: { ...base, layer: 0, step: at(0, "self", "weights")?.id ?? base.step, head: null },
      text:
        `The layer does this ${times(H, "time")} at once: each {head} has projections of its own, and vectors of ${K} numbers. ` +
        `${G < H ? `Here ${times(H / G, "head")} at a time share one set of keys and values. ` : ""}${headsSentence(state, stackName, 0, "self", self.query, tokens)}`,
    }),
    residual: () => read("Back into the stream", "layer", 0, "self", "residual", "One more linear layer mixes the heads' results. They are added to the {residual stream}, and nothing that was there is overwritten."),
    feedForward: () => read("Each token by itself", "layer", 0, "feed_forward", "activated", `Attention moves something between tokens. The {feed-forward} network works on each token alone: ${D} numbers become ${F}, and ${D} again.`),
    layers: () => {
      if (L < 2) return null;
      const best = worthReading(state, stackName, L - 1, "self");
      const step = at(L - 1, "self", "weights");
      if (!step || best.weight === null) return null;
      return {
        title: `The same again, ${L - 1} more ${L === 2 ? "time" : "times"}`,
        target: "flow",
        place: { ...base, layer: L - 1, step: step.id, head: best.head, query: best.query },
        text: `Every layer has the same steps and weights of its own. ${sentence(state, step.id, { ...base, layer: L - 1, step: step.id, head: best.head, query: best.query })}`,
      };
    },
  };
}

/** What the model says at the end, for one token. */
function prediction(state, stackName, query, text) {
  const { tokens } = stackOf(state, stackName);
  const found = predicted(state, query, 3);
  if (!found.length) return null;
  const step = stepOf(state, stackName, null, "output", "probabilities") ?? stepOf(state, stackName, null, "output", "logits");
  const names = found
    .filter(({ probability }, index) => !index || probability >= 0.005)
    .map(({ word, probability }) => `“${visible(word)}” ${percent(probability)}`);
  return {
    title: "The prediction",
    target: "predictions",
    place: { stack: stackName, layer: null, query, head: null, ...(step ? { step: step.id } : {}) },
    text: `${text} Most probable after ${named(tokens, query)}: ${listed(names)}.`,
  };
}

/** The last step: what a page can take away. None where it keeps one run only. */
function takeAway(place, runs = Infinity) {
  if (runs < 2) return null;
  const what = runs === Infinity ? "Now take a part away, a head or the division by √K," : "Now choose one of the other runs that this page keeps,";
  return { title: "Your turn", target: "changes", place, text: `You have seen all of it. ${what} and guess first what will change: the new run appears beside this one.` };
}

function decoderTour(state) {
  const part = chapters(state, "decoder");
  const last = part.tokens.length - 1;
  return [
    part.text(), part.tokens_(), part.embedding(), part.positions(), part.vectors(), part.scores(), part.scaled(), part.masked(),
    part.weights(), part.mixed(), part.heads(), part.residual(), part.feedForward(), part.layers(),
    prediction(state, "decoder", last, "The last vector of each token is compared with the embedding of every token in the vocabulary: these are the {logits}. A softmax makes them probabilities."),
    {
      title: "Drawing the next token",
      target: "sampling",
      place: { stack: "decoder", query: last },
      text: "One token is drawn, and it is not always the most probable one. The {temperature} makes the distribution flatter or sharper; {top-k}, {top-p} and {min-p} cut its tail. Try a temperature of 0.",
    },
  ];
}

function encoderTour(state) {
  const part = chapters(state, "encoder");
  const similarity = stepOf(state, "encoder", null, "output", "similarity");
  const base = { ...part.base, layer: 0 };
  const mask = part.tokens.findIndex((token) => token === "[MASK]");
  const filled = predicted(state, 0, 1).length && mask >= 0
    ? { ...prediction(state, "encoder", mask, ""), text: `At [MASK] the model says what was hidden: ${listed(predicted(state, mask, 3).map(({ word, probability }) => `“${visible(word)}” ${percent(probability)}`))}.` }
    : null;
  return [
    part.text(), part.tokens_(), part.embedding(), part.positions(), part.vectors(), part.scores(), part.scaled(), part.masked(),
    part.weights(), part.mixed(), part.heads(), part.residual(), part.feedForward(), part.layers(),
    filled,
    similarity && {
      title: "Which tokens are alike?",
      target: "similarity",
      place: { stack: "encoder", layer: null, step: similarity.id },
      text: `At the end every token has one vector, made in this sentence. ${sentence(state, similarity.id, { ...base, step: similarity.id })}`,
    },
    filled && similarity ? null : takeAway(base),
  ];
}

function bothTour(state) {
  const encoder = chapters(state, "encoder");
  const decoder = chapters(state, "decoder");
  const { L } = state.header.model.sizes;
  const layer = L - 1;
  const cross = worthReading(state, "decoder", layer, "cross");
  const source = encoder.tokens;
  const target = decoder.tokens;
  const place = { stack: "decoder", layer, attention: "cross", head: cross.head, query: cross.query };
  const at = (what) => stepOf(state, "decoder", layer, "cross", what);
  const [query, weights] = [at("query"), at("weights")];
  const last = target.length - 1;
  return [
    {
      ...encoder.text(),
      text: `${state.header.model.name} reads “${visible(state.header.text)}” with an encoder and writes with a decoder, ${times(L, "layer")} each. Layers, heads and positions are counted from 0, as in Python.`,
    },
    encoder.tokens_(), encoder.embedding(), encoder.vectors(), encoder.scores(), encoder.weights(),
    {
      title: "What the encoder hands over",
      target: "flow",
      place: { ...encoder.base, layer },
      text: `After ${times(L, "layer")} each of the ${times(source.length, "token")} of the source has a vector that knows its sentence. The decoder reads these ${source.length} vectors at every token that it writes.`,
    },
    {
      title: "What has been written",
      target: "tokens",
      place: { ...decoder.base, layer: 0, step: decoder.at(0, "self", "weights")?.id },
      text: `The decoder has been fed ${times(target.length, "token")}: its own text, moved one to the right, so that each token has to predict the next one.`,
    },
    decoder.masked(), decoder.weights(),
    query && {
      title: "Asking the source",
      target: "matrix",
      place: { ...place, step: query.id },
      text: `In {cross-attention} the queries come from the decoder, keys and values from the encoder. ${sentence(state, query.id, { ...place, step: query.id })}`,
    },
    weights && {
      title: "The alignment",
      target: "matrix",
      place: { ...place, step: weights.id },
      text: `Its weights say which token of the source is read for which token of the target. ${sentence(state, weights.id, { ...place, step: weights.id })}`,
    },
    weights && {
      title: "Head by head",
      target: "heads",
      place: { ...place, head: null, step: weights.id },
      text: `No two heads need to read the same. ${headsSentence(state, "decoder", layer, "cross", cross.query, source)}`,
    },
    decoder.feedForward(),
    prediction(state, "decoder", last, "At the end the decoder's vectors become {logits}, and a softmax makes them probabilities."),
    takeAway({ ...place, step: weights?.id ?? null }),
  ];
}

/** What a step of the reading chooses anew, said: the token, the layer, the head; empty where all stays. */
export function movedTo(state, before, now) {
  const stack = now.stack !== before.stack;
  const all = [
    stack ? `the ${now.stack}` : "",
    stack || now.query !== before.query ? `the token ${named(stackOf(state, now.stack).tokens, now.query)}` : "",
    now.layer !== before.layer && now.layer !== null ? `layer ${now.layer}` : "",
    now.head !== before.head ? (now.head === null ? "all heads" : `head ${now.head}`) : "",
  ].filter(Boolean);
  return all.length ? `Now chosen: ${listed(all)}.` : "";
}

/* ——— the part of the page ——— */

const FAR = 400; // pixels from the top of a part to what is spoken about

export function mount(element, store) {
  element.classList.add("tour");
  let steps = [];
  let number_ = 0;
  const start = el("button", { type: "button", class: "start", "aria-expanded": "false", click: open }, "Guided reading");
  const title = el("h2", { id: "tour-title", tabindex: "-1" });
  const text = el("p", { class: "says" });
  const moved = el("p", { class: "hint" });
  const count = el("span", { class: "muted" });
  const back = el("button", { type: "button", click: () => go(number_ - 1) }, "Back");
  const next = el("button", { type: "button", class: "main", click: () => (number_ === steps.length - 1 ? close() : go(number_ + 1)) }, "Next");
  const leave = el("button", { type: "button", class: "leave", "aria-label": "Close the guided reading", click: close }, "×");
  const card = el(
    "div",
    { class: "tour-card", role: "group", "aria-labelledby": "tour-title", keydown: keys },
    el("div", { class: "title" }, title, leave),
    text,
    moved,
    el("div", { class: "controls" }, back, next, count),
  );
  const ring = el("div", { class: "tour-ring", "aria-hidden": "true" });
  element.append(start);

  const runs = () => (store.host ? Infinity : store.states.length);
  const root = () => element.closest("main");
  /** What a step speaks about; where the encoder and the decoder have one each, that of the step's place. */
  const targetOf = ({ target, place }) => {
    const all = [...root().querySelectorAll(`[data-tour="${target}"]`)].filter((each) => each.getClientRects().length);
    return all.find((each) => each.dataset.stack === place?.stack) ?? all[0] ?? null;
  };

  function open() {
    steps = tourOf(store.state, runs());
    start.setAttribute("aria-expanded", "true");
    document.addEventListener("keydown", escape);
    go(0);
    title.focus({ preventScroll: true });
  }

  function close() {
    card.remove();
    ring.remove();
    steps = [];
    start.setAttribute("aria-expanded", "false");
    document.removeEventListener("keydown", escape);
    start.focus();
  }

  /** Chooses what a step speaks about, puts the card in front of that part of the page, and a ring around it. */
  function go(to) {
    number_ = to;
    const step = steps[to];
    const before = store.place;
    store.change({ place: step.place });
    moved.textContent = movedTo(store.state, before, store.place);
    say();
    announce(`${plain(step.text)} ${moved.textContent}`.trim());
    const focused = card.contains(document.activeElement) ? document.activeElement : null;
    const part = partOf(targetOf(step) ?? element);
    if (card.nextElementSibling !== part) {
      part.before(card);
      focused?.focus({ preventScroll: true });
    }
    if (back.disabled && focused === back) next.focus({ preventScroll: true });
    root().append(ring);
    surround();
    card.scrollIntoView({ block: "start", behavior: still() ? "auto" : "smooth" });
  }

  /**
   * What the card stands in front of: the part of the page that has the target, or, where that is far down in its part,
   * the row of the part that has it.
   */
  function partOf(target) {
    let part = target;
    let row = target;
    while (part.parentElement !== root()) [row, part] = [part, part.parentElement];
    const far = target.getBoundingClientRect().top - part.getBoundingClientRect().top > FAR;
    return far && getComputedStyle(part).display === "block" ? row : part;
  }

  function say() {
    const step = steps[number_];
    const onTerm = text.contains(document.activeElement);
    title.textContent = step.title;
    text.replaceChildren(...withTerms(step.text));
    count.textContent = `${number_ + 1} of ${steps.length}`;
    back.disabled = number_ === 0;
    next.textContent = number_ === steps.length - 1 ? "Close" : "Next";
    if (onTerm) title.focus({ preventScroll: true }); // the term that had the focus is gone
  }

  /** Puts the ring around the target, wherever it is now. */
  function surround() {
    if (!steps.length) return;
    const target = targetOf(steps[number_]);
    ring.hidden = !target;
    if (!target) return;
    const around = root().getBoundingClientRect();
    const boxes = [target, ...target.children].map((each) => each.getBoundingClientRect()).filter(({ width }) => width);
    const [left, top] = ["left", "top"].map((side) => Math.min(...boxes.map((box) => box[side])));
    const right = Math.max(...boxes.map((box) => box.right));
    let bottom = Math.max(...boxes.map((box) => box.bottom));
    // the embeddings' name stands over their column of the flow
    if (steps[number_].target === "embedding") bottom = targetOf({ target: "flow" })?.getBoundingClientRect().bottom ?? bottom;
    ring.style.left = `${left - around.left - 6}px`;
    ring.style.top = `${top - around.top - 6}px`;
    ring.style.width = `${right - left + 12}px`;
    ring.style.height = `${bottom - top + 12}px`;
  }

  /** Escape closes the reading from anywhere, but first a term that is open. */
  function escape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector(":popover-open")) return;
    event.preventDefault();
    close();
  }

  function keys(event) {
    if (event.key === "ArrowRight" && number_ < steps.length - 1) go(number_ + 1);
    else if (event.key === "ArrowLeft" && number_ > 0) go(number_ - 1);
    else return;
    event.preventDefault();
  }

  let { state } = store;
  store.subscribe(() => {
    if (steps.length && store.state !== state) {
      steps = tourOf(store.state, runs()); // another text, or another run: its own numbers
      number_ = Math.min(number_, steps.length - 1);
      say();
    }
    ({ state } = store);
    if (steps.length) requestAnimationFrame(surround);
  });
  new ResizeObserver(surround).observe(root());
}
