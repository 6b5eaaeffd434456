/* The page's words, explained where they stand: a button that opens one sentence, and says where the course has it. */

const at = (notebook, cell, section, sentence) => ({ notebook, cell, section, sentence });

/** One sentence for each term, in the course's words, and the section of the notebook that explains it. */
export const TERMS = {
  token: at("00-start-here", "reading-the-map", "1 · How to read the map",
    "A token is a word, a part of a word, a character or a punctuation mark: a piece of text with a number in the vocabulary."),
  embedding: at("01-embedding-lookup", "matrix", "5 · The embedding matrix",
    "The embedding of a token is its row of the embedding matrix: the same vector in whatever text it occurs."),
  position: at("06-positional-encodings", "good", "2 · What makes a good encoding?",
    "Attention can't tell first from last, so every position gets a vector of its own, or turns queries and keys by an angle of its own."),
  query: at("02-attention-scores", "roles", "1 · Who asks, who answers",
    "A query says what a token is looking for: the question you bring to a library."),
  key: at("02-attention-scores", "roles", "1 · Who asks, who answers",
    "A key is what a token can be found by: the label on a drawer."),
  value: at("02-attention-scores", "roles", "1 · Who asks, who answers",
    "A value is what a token hands over when it is found: what lies in the drawer."),
  head: at("04-heads", "why-several", "1 · One head, one mixture",
    "A head is one of several attentions that run in parallel, each with small projections of its own."),
  score: at("02-attention-scores", "roles", "1 · Who asks, who answers",
    "A score is the dot product of a query and a key: high where the two fit."),
  scaling: at("02-attention-scores", "why-root", "3 · How large is a score?",
    "Scores grow with the width of queries and keys; divided by √K, they are of the same size whatever the width."),
  mask: at("09-causal-mask", "exercise-mask", "1 · Guessing the next word",
    "The causal mask is a triangle: each token may attend to itself and to earlier tokens, and to nothing else."),
  softmax: at("02-attention-scores", "why-root", "3 · How large is a score?",
    "A softmax turns a row of scores into positive weights that sum to 1; one more point of score means e ≈ 2.7 times the weight."),
  "attention weight": at("03-softmax", "rows", "3 · Every query has its own budget",
    "An attention weight says how much of a key's value a query takes in; the weights of each query sum to 1."),
  "self-attention": at("02-attention-scores", "one-sentence", "6 · A sentence attends to itself",
    "In self-attention the tokens of one text read each other: queries, keys and values are all made from it."),
  "residual stream": at("05-encoder-layer", "two-orders", "7 · Two arrangements: pre-norm and post-norm",
    "The residual stream is a running sum: each token's D numbers, to which every part of every layer adds its result."),
  "layer norm": at("05-encoder-layer", "norm-intro", "5 · Layer norm",
    "Layer norm gives the numbers of each token mean 0 and variance 1, then scales and shifts each column by learned numbers."),
  "feed-forward": at("05-encoder-layer", "ffn-intro", "4 · The feed-forward network",
    "In the feed-forward network each token's D numbers are widened to F, switched on or off one by one, and brought back to D."),
  logits: at("08-classification-head", "cls-by-layer-text", "The head",
    "Logits are scores, one for each possible answer: any real number, the larger the more likely."),
  temperature: at("03-softmax", "temperature", "7 · Temperature",
    "The temperature divides all logits before the softmax: below 1 the probabilities are more peaked, above 1 more even."),
  "top-k": at("09-causal-mask", "exercise-probabilities", "7 · From logits to text",
    "Top-k keeps the k most probable tokens and shares the probability among them."),
  "top-p": at("09-causal-mask", "exercise-probabilities", "7 · From logits to text",
    "Top-p keeps the most probable tokens, as few as together have at least the probability p."),
  "min-p": at("14-since-gpt-2", "exercise-min-p", "Which tokens may be drawn?",
    "Min-p keeps every token that is at least min-p times as probable as the most probable one."),
  "cross-attention": at("10-encoder-decoder", "title", "Encoder and decoder: reading one, writing another",
    "Through cross-attention the decoder looks up what the encoder has read, at every token that it writes."),
  "KV cache": at("09-causal-mask", "exercise-cache", "10 · Optional: don't read everything again",
    "A key–value cache keeps what later tokens need from earlier ones: their keys and values, in every layer."),
};

/** The term that explains a step's title. */
const OF_STEP = {
  token_vectors: "embedding", positions: "position", norm: "layer norm", query: "query", key: "key", value: "value",
  scores: "score", scaled: "scaling", masked: "mask", weights: "softmax", residual: "residual stream",
  feed_forward: "feed-forward", logits: "logits",
};

let count = 0;

/** A button that shows a term's sentence; `text` is what the button says. */
export function term(name, text = name) {
  const { notebook, section, sentence } = TERMS[name];
  const made = document.createElement("span");
  made.className = "term";
  const button = made.appendChild(document.createElement("button"));
  button.type = "button";
  button.textContent = text;
  const note = made.appendChild(document.createElement("span"));
  note.id = `term-${++count}`;
  note.className = "term-note";
  note.popover = "auto"; // Escape and a click elsewhere close it
  note.role = "tooltip";
  const says = note.appendChild(document.createElement("span"));
  says.textContent = sentence;
  const where = note.appendChild(document.createElement("span"));
  where.className = "where";
  where.textContent = `Notebook ${notebook.slice(0, 2)} · ${section}`;
  button.popoverTargetElement = note;
  button.setAttribute("aria-describedby", note.id);
  note.addEventListener("beforetoggle", ({ newState }) => newState === "open" && requestAnimationFrame(() => place(note, button)));
  return made;
}

/** Puts a note under its button, or above where there is no room, and never outside the window. */
function place(note, button) {
  const { left, top, bottom } = button.getBoundingClientRect();
  const { width, height } = note.getBoundingClientRect();
  const below = bottom + 6 + height <= innerHeight;
  note.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  note.style.top = `${Math.max(8, below ? bottom + 6 : top - 6 - height)}px`;
}

/** Such a text as it is read aloud. */
export const plain = (text) => text.replace(/\{(?:[^}|]+\|)?([^}]+)\}/g, "$1");

/** A text in which `{softmax}` or `{score|scores}` is such a button, as nodes. */
export function withTerms(text) {
  return text.split(/(\{[^}]+\})/).map((part) => {
    if (!part.startsWith("{")) return document.createTextNode(part);
    const [name, shown] = part.slice(1, -1).split("|");
    return term(name, shown ?? name);
  });
}

/** A step's title, as such a button where a term explains it. An RMS norm is none that does what layer norm does. */
export function titled({ kind, title, formula }) {
  const name = OF_STEP[kind];
  return name && !(kind === "norm" && /rms/i.test(title + formula)) ? term(name, title) : document.createTextNode(title);
}

/**
 * A link to a notebook. The page's body may say where notebooks are, with * for a notebook's name. Else it is text where nothing would open one: from the
 * explorer's server, which has none, and in a page opened as a file, where a browser shows a notebook's JSON.
 */
export function notebookLink(notebook, text) {
  const { host, notebooks } = document.body.dataset;
  if (!notebooks && (host === "server" || document.baseURI.startsWith("file:"))) return document.createTextNode(text);
  const made = document.createElement("a");
  made.href = (notebooks || "../*/*.ipynb").replaceAll("*", notebook);
  made.target = "_blank";
  made.rel = "noopener";
  made.textContent = text;
  return made;
}
