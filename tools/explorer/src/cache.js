/* The key–value cache: what a decoder computes again for each token that it writes, and what it could keep. */

import { el, fit, ink, player } from "./draw.js";
import { drawn } from "./redraw.js";
import { announce } from "./region.js";
import { visible } from "./state.js";
import { term } from "./terms.js";
import { named, tableElement } from "./words.js";

const MOST_TOKENS = 64; // rows of the picture
const BYTES = { 2: "half precision, 2 bytes", 4: "single precision, 4 bytes" };

/* ——— the arithmetic ——— */

/**
 * Multiplications that a model of these sizes does for the token at place `tokens`, 1 for the first: those of its linear
 * layers, of scores, and of mixing the values; at the end the layer that gives logits.
 *
 * `kept`: keys and values of the tokens before are kept, so only the newest goes through the layers. Otherwise all go,
 * and each query meets each key, as in the course's models.
 */
export function multiplications({ sizes, activation }, tokens, kept) {
  const { D, H, G = H, K, F, V, L } = sizes;
  const rows = kept ? 1 : tokens;
  const projections = 2 * D * H * K + 2 * D * G * K; // query and output; key and value
  const feedForward = (activation === "SwiGLU" ? 3 : 2) * D * F;
  const attention = 2 * tokens * H * K; // of one query: scores, mixture
  return rows * (L * (projections + attention + feedForward) + D * V);
}

/** The same for all tokens up to one, written one after the other. */
export function multiplicationsUpTo(model, tokens, kept) {
  let sum = 0;
  for (let token = 1; token <= tokens; token++) sum += multiplications(model, token, kept);
  return sum;
}

/** Bytes that the keys and values of so many tokens take in all layers: `cache_bytes` of Exercise 14.6. */
export function cacheBytes({ H, G = H, K, L }, tokens, bytesPerNumber = 2) {
  return 2 * L * G * K * tokens * bytesPerNumber;
}

/** A large whole number as it is read. */
export function large(value) {
  const units = [[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]];
  for (const [size, name] of units) if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 1)} ${name}`;
  return value.toLocaleString("en-US");
}

/** Bytes in the unit that fits: kB is 1,000 bytes. */
export function inBytes(value) {
  const units = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];
  for (const [size, name] of units) if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 1)} ${name}`;
  return `${value} bytes`;
}

/** What is done for one token, as a sentence. */
export function cacheSentence(model, tokens, index) {
  const before = index === 0 ? "" : index === 1 ? "the one before it" : `the ${index} before it`;
  const [without, kept] = [multiplications(model, index + 1, false), multiplications(model, index + 1, true)];
  if (!index) return `${named(tokens, 0)} is the first token: there is nothing to keep yet, and both ways cost ${large(kept)} multiplications.`;
  return (
    `After ${named(tokens, index)} has been added, the model without a cache computes it and ${before} again: ${large(without)} multiplications. ` +
    `With a cache it computes the new token only, and reads the keys and values of ${before}: ${large(kept)}, ${(without / kept).toFixed(1)} times fewer.`
  );
}

/* ——— the part of the page ——— */

export function mount(element, store) {
  element.classList.add("cache");
  element.dataset.tour = "cache";
  let at = null; // the token that is being written; null: the last
  let bytes = 2;
  let version = 0;
  const redraw = () => {
    version += 1;
    store.change({});
    const { model, stacks: [{ tokens }] } = store.state.header;
    announce(cacheSentence(model, tokens, Math.min(at ?? tokens.length - 1, tokens.length - 1)));
  };
  const canvases = ["again", "kept"].map((way) => ({ way, canvas: el("canvas", { role: "img" }) }));
  const titles = { again: "Without a cache", kept: "With a cache" };
  const row = el(
    "div",
    { class: "two" },
    canvases.map(({ way, canvas }) => el("figure", {}, el("figcaption", {}, titles[way]), canvas)),
  );
  const play = player("Write", 400, (first) => {
    const last = store.state.header.stacks.at(-1).tokens.length - 1;
    if (first) at = 0;
    else if (at === null || at >= last) return false;
    else at += 1;
    redraw();
    return at < last;
  }, { "data-key": "play" });

  function draw() {
    const { header } = store.state;
    if (header.kind !== "decoder" || !row.clientWidth) return; // hidden, or not on the page
    const { tokens } = header.stacks[0];
    const count = Math.min(tokens.length, MOST_TOKENS);
    const now = Math.min(at ?? tokens.length - 1, count - 1);
    const narrow = row.clientWidth < 480;
    const width = (narrow ? row.clientWidth : (row.clientWidth - 32) / 2) - 2;
    const longest = Math.max(...tokens.slice(0, count).map((each) => visible(each).length));
    const left = Math.min(84, 10 + 7.5 * longest);
    const cell = Math.max(4, Math.min(24, (width - left) / count));
    for (const { way, canvas } of canvases) {
      const context = fit(canvas, left + cell * count + 1, cell * count + 1);
      context.font = `12px ${ink("--sans")}`;
      context.textBaseline = "middle";
      context.textAlign = "right";
      const gap = cell > 8 ? 1.5 : 0.5;
      for (let step = 0; step < count; step++) {
        context.globalAlpha = step > now ? 0.18 : step === now ? 1 : 0.55;
        context.fillStyle = step === now ? ink("--ink") : ink("--muted");
        if (cell >= 12 || step === now) context.fillText(visible(tokens[step]), left - 6, (step + 0.5) * cell, left - 8);
        for (let token = 0; token <= step; token++) {
          const [x, y, size] = [left + token * cell + gap, step * cell + gap, cell - 2 * gap];
          const isNew = token === step;
          if (isNew || way === "again") {
            context.fillStyle = isNew ? ink("--accent") : ink("--warning");
            context.fillRect(x, y, size, size);
          } else {
            context.strokeStyle = ink("--accent");
            context.lineWidth = 1;
            context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
          }
        }
      }
      context.globalAlpha = 1;
      const done = way === "again" ? `computes ${now + 1} tokens` : `computes 1 token and reads ${now} from the cache`;
      canvas.setAttribute("aria-label", `${titles[way]}: a triangle, a row for each token written. Row ${now} ${done}.`);
    }
  }

  const key = (className, text) => el("span", {}, el("i", { class: className, "aria-hidden": "true" }), text);

  drawn(
    element,
    store,
    () => [store.state, version],
    ({ state }) => {
      const { header } = state;
      if (header.kind !== "decoder") return null;
      if (header.changes.includes("no-mask"))
        return [
          el("div", { class: "title" }, el("h2", {}, "What a ", term("KV cache"), " keeps")),
          el("p", { class: "says" }, "Nothing, in this run: without the mask every new token changes the vectors of those before it, and with them their keys and values in all layers but the first."),
        ];
      const { model, stacks: [{ tokens }] } = header;
      const { L, H, G = H, K } = model.sizes;
      const now = Math.min(at ?? tokens.length - 1, tokens.length - 1);
      const slider = el("input", { type: "range", min: 0, max: tokens.length - 1, value: now, id: "writing", "data-key": "writing",
        "aria-valuetext": `token ${now}, ${visible(tokens[now])}`, input: (event) => {
          at = Number(event.target.value);
          redraw();
        } });
      const precision = el("select", { "aria-label": "Bytes for each number", "data-key": "bytes", change: (event) => {
        bytes = Number(event.target.value);
        redraw();
      } }, Object.entries(BYTES).map(([size, name]) => el("option", { value: size, selected: Number(size) === bytes }, name)));
      const [without, kept] = [false, true].map((way) => multiplicationsUpTo(model, now + 1, way));
      const written = `${now + 1} ${now ? "tokens" : "token"}`;
      const rows = tokens.map((token, index) => ({
        name: `${index} ${visible(token)}`,
        cells: [String(index + 1), "1", large(multiplications(model, index + 1, false)), large(multiplications(model, index + 1, true)), inBytes(cacheBytes(model.sizes, index + 1, bytes))],
      }));
      const table = () => tableElement({ caption: "Writing token by token", corner: "token", columns: ["computed without", "computed with", "multiplications without", "multiplications with", "cache"], rows });
      const details = el("details", { class: "described", toggle: () => details.open && !details.querySelector("table") && details.append(el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Writing token by token" }, table())) },
        el("summary", {}, "As a table", el("span", { class: "unseen" }, ": writing token by token")));
      queueMicrotask(draw);
      return [
        el("div", { class: "title" }, el("h2", {}, "What a ", term("KV cache"), " keeps")),
        el("p", { class: "says" }, "A decoder writes one token after another. The causal mask lets no token see a later one, so the keys and values of the tokens before stay what they were."),
        el("p", { class: "writing" }, play.button, el("label", { for: "writing" }, "Token "), slider, el("output", { "aria-live": "off" }, `${now}: ${visible(tokens[now])}`)),
        row,
        tokens.length > MOST_TOKENS ? el("p", { class: "muted" }, `The picture has the first ${MOST_TOKENS} tokens.`) : "",
        el("p", { class: "keys" }, key("new", "computed, new"), key("again", "computed again"), key("kept", "kept and read")),
        el("p", { class: "says" }, cacheSentence(model, tokens, now)),
        el("dl", { class: "sums" },
          el("div", {}, el("dt", {}, `Writing ${written}, without`), el("dd", {}, large(without)), el("dd", { class: "muted" }, "multiplications")),
          el("div", {}, el("dt", {}, `Writing ${written}, with`), el("dd", {}, large(kept)), el("dd", { class: "muted" }, "multiplications")),
          el("div", {}, el("dt", {}, "The cache now takes"), el("dd", {}, inBytes(cacheBytes(model.sizes, now + 1, bytes))), el("dd", { class: "muted" }, `2 · ${L} layers · ${G} ${G === 1 ? "head" : "heads"} · ${K} numbers · ${written} · ${bytes} bytes`))),
        el("p", { class: "muted" }, "Numbers are kept in ", precision, G < H ? ` ${H} query heads share ${G} of keys and values: the cache is ${H / G} times smaller than with ${H}.` : "", " Counted are the multiplications of the linear layers, the scores, the mixtures and the logits."),
        details,
      ];
    },
  );
  new ResizeObserver(draw).observe(row);
}
