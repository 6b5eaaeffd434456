// The overview: one sentence from its tokens to the next one, as a flow. Ribbons are as wide as attention weights.

import { sankeyLinkHorizontal } from "d3-sankey";
import { select } from "d3-selection";

import { chances } from "./chances.js";
import { currentTheme, share, shareParts } from "./color.js";
import { animate, bytesOf, el, fit, ink, paint, player, scaleFor, showThatItGoesOn, still } from "./draw.js";
import { flow, leastWidth, onRibbon, ribbons } from "./flow.js";
import { array, find, shown, stackOf, stepOf, visible } from "./state.js";
import { withTerms } from "./terms.js";
import { described, heardAt, named, number, sentence, writes } from "./words.js";

const NAMED = 0.1; // weights that are written beside their ribbons
const WORDS = 8;
const STRIPS = { self: "attention", cross: "cross", feed_forward: "feed-forward" };

const partName = (part) => (part === "cross" ? "Cross-attention" : "Self-attention");

/** The weights step of the place: of its layer, or of the first one where the place is outside of the layers. */
function weightsHere(state, place) {
  const stack = stackOf(state, place.stack);
  const layer = place.layer ?? 0;
  const part = stack.layers[layer]?.attentions.some((one) => one.name === place.attention) ? place.attention : "self";
  return { stack, layer, part, step: stepOf(state, place.stack, layer, part, "weights") };
}

/** What the ribbons show for the chosen token, said. */
export function flowSentence(state, place) {
  const { stack, step } = weightsHere(state, place);
  const query = Math.min(place.query, stack.tokens.length - 1);
  const next = writes(state, stack.name, query);
  return [
    `${stack.tokens.length} ${stack.tokens.length === 1 ? "token" : "tokens"} on their way through ${stack.layers.length} ${stack.layers.length === 1 ? "layer" : "layers"}, with a ribbon for each attention weight.`,
    step ? sentence(state, step.id, place) : "",
    next ? `Most probable after ${named(stack.tokens, query)}: “${visible(next.word)}”, ${number(next.probability)}.` : "",
  ].filter(Boolean).join(" ");
}

/** An option's name, where it is not just its text. */
const spoken = (tokens, index) => (heardAt(tokens, index) === visible(tokens[index]) ? null : heardAt(tokens, index));

/** Mounts the overview. */
export function mount(element, store) {
  element.classList.add("overview");
  const canvas = el("canvas", { role: "img", "data-tour": "flow" });
  const marks = el("div", { class: "marks" });
  const board = el("div", { class: "board" }, canvas, marks);
  const sheet = el("div", { class: "scroll" }, board);
  const heads = el("div", { class: "heads", role: "radiogroup", "data-tour": "heads" });
  const headsTitle = el("h3", {});
  const reads = el("p", { class: "reads" });
  const tip = el("span", { class: "tip", "aria-hidden": "true", hidden: true });
  const table = el("div", { class: "described" });
  const follow = player("Follow token by token", 1100, (first) => {
    const stack = stackOf(store.state, store.place.stack);
    const next = first && store.place.query >= stack.tokens.length - 1 ? 0 : store.place.query + 1;
    if (next >= stack.tokens.length) return false;
    store.change({ place: { query: next } });
    return true;
  });
  element.append(
    el("div", { class: "title" }, el("h2", {}, "All the way through"), follow.button,
      el("p", { class: "hint" }, withTerms("A ribbon is as wide as an {attention weight}. The line through a row is its token's {residual stream}. Choose a {token}, a layer or a {head}."))),
    sheet, el("div", { class: "title" }, headsTitle), reads, heads, table,
  );

  board.append(tip);
  showThatItGoesOn(sheet);

  let geometry = null;
  let preview = null; // the row under the pointer: {stack, query}
  let quiet = null; // everything that stays when another token is chosen
  let drawnFor = {};
  let stop = () => {};
  const kept = new Map(); // links and pictures of this state

  function linksOf(stack, layer, part, head) {
    const key = `${stack}.${layer}.${part}.${head}`;
    if (!kept.has(key)) {
      const least = geometry.stacks[0].y.length > 24 ? 0.03 : 0.008;
      kept.set(key, ribbons(store.state, geometry, stack, layer, part, head, least));
    }
    return kept.get(key);
  }

  function imageOf({ step, width }, found) {
    const key = `${step.id} ${currentTheme()}`;
    if (!kept.has(key)) kept.set(key, bytesOf(found, scaleFor(step.kind, found), Math.min(found.columns, Math.max(4, Math.round(width / 2)))));
    return kept.get(key);
  }

  const headOf = (stack, layer, part) => {
    const here = weightsHere(store.state, store.place);
    return here.stack.name === stack && here.layer === layer && here.part === part ? store.place.head : null;
  };

  /** Calls `use(stack, layer, part, links, chosen)` for each attention that is drawn. */
  function eachAttention(use) {
    const here = weightsHere(store.state, store.place);
    for (const { name, stack } of geometry.stacks) {
      stack.layers.forEach((layer, index) => {
        for (const { name: part } of layer.attentions) {
          const chosen = name === here.stack.name && index === here.layer && part === here.part;
          if (part === "cross" && index !== (name === here.stack.name ? here.layer : stack.layers.length - 1)) continue;
          use(name, index, part, linksOf(name, index, part, headOf(name, index, part)), chosen);
        }
      });
    }
  }

  function drawQuiet() {
    quiet ??= document.createElement("canvas");
    const context = fit(quiet, geometry.width, geometry.height);
    const state = store.state;
    const place = store.place;
    const here = weightsHere(state, place);
    const path = sankeyLinkHorizontal().context(context);
    for (const { name, columns, top, bottom, y, row, label } of geometry.stacks) {
      if (name === here.stack.name) {
        const mine = columns.filter((one) => one.layer === place.layer);
        const first = mine[0];
        const last = mine.at(-1);
        context.fillStyle = ink("--panel");
        context.beginPath();
        context.roundRect(first.x - 6, top - 30, last.x + last.width - first.x + 12, bottom - top + 34, 6);
        context.fill();
      }
      context.strokeStyle = ink("--hairline");
      context.lineWidth = 1;
      for (const middle of y) {
        context.beginPath();
        context.moveTo(label + 2, Math.round(middle) + 0.5);
        context.lineTo(columns.at(-1).x, Math.round(middle) + 0.5);
        context.stroke();
      }
      context.globalAlpha = 1;
      for (const column of columns) {
        const found = column.step && shown(state, column.step, null);
        const height = Math.max(3, row * 0.86);
        if (found) {
          const image = imageOf(column, found);
          y.forEach((middle, index) => paint(context, image, column.x, middle - height / 2, column.width, height, index));
        }
        context.strokeStyle = ink("--bar");
        for (const middle of y) context.strokeRect(column.x + 0.5, middle - height / 2 + 0.5, column.width - 1, height - 1);
      }
    }
    const busy = geometry.stacks.reduce((sum, one) => sum + one.y.length, 0) > 40;
    eachAttention((name, layer, part, links, chosen) => {
      context.strokeStyle = ink(part === "cross" ? "--cross" : "--flow");
      const strength = (chosen ? 1.6 : 0.8) * (busy ? 0.6 : 1) * (part === "cross" ? 0.7 : 1);
      for (const link of links) {
        context.globalAlpha = Math.min(0.5, (0.07 + 0.22 * link.weight) * strength);
        context.lineWidth = Math.max(0.4, link.width);
        context.beginPath();
        path(link);
        context.stroke();
      }
      context.globalAlpha = 1;
    });
  }

  function litRow() {
    if (preview) return preview;
    return { stack: store.place.stack, query: store.place.query };
  }

  function drawLit(part = 1) {
    const context = fit(canvas, geometry.width, geometry.height);
    context.drawImage(quiet, 0, 0, geometry.width, geometry.height);
    const lit = litRow();
    const there = geometry.stacks.find((one) => one.name === lit.stack);
    const cut = there.left + (geometry.width - there.left) * part;
    context.save();
    context.beginPath();
    context.rect(0, 0, cut, geometry.height);
    context.clip();
    const middle = there.y[lit.query];
    drawStream(context, there, middle);
    const path = sankeyLinkHorizontal().context(context);
    const dark = currentTheme() === "dark";
    const written = [];
    eachAttention((name, layer, kind, links, chosen) => {
      if (name !== lit.stack) return;
      for (const link of links) {
        if (link.query !== lit.query) continue;
        context.globalAlpha = chosen ? 0.95 : 0.55;
        context.strokeStyle = kind === "cross" ? ink("--cross-lit") : share(dark ? 0.4 + 0.35 * link.weight : 0.42 + 0.4 * link.weight);
        context.lineWidth = Math.max(0.7, link.width);
        context.beginPath();
        path(link);
        context.stroke();
        if (chosen && (link.weight >= NAMED || link.key === store.place.key)) written.push(link);
      }
    });
    context.globalAlpha = 1;
    for (const column of there.columns) {
      const height = Math.max(3, there.row * 0.86);
      context.strokeStyle = ink("--accent");
      context.lineWidth = 1.5;
      context.strokeRect(column.x - 0.5, middle - height / 2 - 0.5, column.width + 1, height + 1);
    }
    context.restore();
    if (part === 1) {
      context.font = `600 12px ${ink("--sans")}`;
      context.textBaseline = "middle";
      for (const link of written) {
        const text = number(link.weight);
        const x = link.source.x1 + 5;
        context.fillStyle = ink("--paper");
        context.beginPath();
        context.roundRect(x - 3, link.y0 - 8, context.measureText(text).width + 6, 16, 4);
        context.fill();
        context.fillStyle = ink("--ink");
        context.fillText(text, x, link.y0);
      }
    }
    drawFan(context, part);
  }

  /** The lit token's residual stream, between the columns; what stands before the first layer is a sum. */
  function drawStream(context, { label, columns }, middle) {
    context.strokeStyle = ink("--accent");
    context.lineWidth = 1.5;
    context.beginPath();
    let from = label + 2;
    for (const column of columns) {
      context.moveTo(from, middle);
      if (column.layer !== null || from === label + 2) context.lineTo(column.x, middle);
      from = column.x + column.width;
    }
    context.stroke();
    const sum = columns.filter((column) => column.layer === null);
    context.font = `600 13px ${ink("--sans")}`;
    context.fillStyle = ink("--accent");
    context.textAlign = "center";
    context.textBaseline = "middle";
    sum.slice(1).forEach((column, index) => {
      const gap = column.x - sum[index].x - sum[index].width;
      const sign = index === sum.length - 2 ? "=" : "+";
      if (gap > 7) context.fillText(sign, column.x - gap / 2, middle);
    });
    context.textAlign = "left";
  }

  /** On the right: the chosen token's last vector becomes the next word's probabilities, or its likeness to the others. */
  function drawFan(context, part) {
    const main = geometry.stacks.at(-1);
    const lit = litRow();
    const query = lit.stack === main.name ? lit.query : main.y.length - 1;
    const found = chances(store.state, query, store.sampling);
    const { left, right } = geometry.fan;
    const words = marks.querySelector(".fan");
    words.textContent = "";
    if (!found) {
      drawSimilarity(context, words, query);
      return;
    }
    const listed = found.words.slice(0, WORDS).filter((one) => one.p > 0.0005);
    const others = 1 - listed.reduce((sum, one) => sum + one.p, 0);
    const rows = [...listed.map((one) => [visible(one.word), one.p]), ...(others > 0.002 ? [["all others", others]] : [])];
    const bar = main.row * 0.86;
    const high = Math.max(main.bottom - main.top, 20 * rows.length);
    const gap = 8;
    const unit = Math.min(280, high * 0.55, high - rows.length * (gap + 8));
    let y = main.top;
    let from = main.y[query] - bar / 2;
    const x = right - 112;
    rows.forEach(([word, p], index) => {
      const height = Math.max(1.5, p * unit);
      const room = Math.max(height, 15);
      const top = y + (room - height) / 2;
      const middle = (left + 4 + x) / 2;
      context.globalAlpha = (word === "all others" ? 0.25 : 0.85) * (part < 1 ? part : 1);
      context.fillStyle = word === "all others" ? ink("--muted") : `rgb(${shareParts(currentTheme() === "dark" ? 0.45 : 0.35 + 0.4 * p)})`;
      context.beginPath();
      context.moveTo(left + 2, from);
      context.bezierCurveTo(middle, from, middle, top, x, top);
      context.lineTo(x, top + height);
      context.bezierCurveTo(middle, top + height, middle, from + p * bar, left + 2, from + p * bar);
      context.fill();
      context.globalAlpha = 1;
      words.append(el("span", { class: index === 0 ? "word first" : "word", style: `left:${x + 6}px;top:${top + height / 2 - 9}px` },
        el("b", {}, word), ` ${number(p)}`));
      from += p * bar;
      y += room + gap * 0.5;
    });
  }

  function drawSimilarity(context, words, query) {
    const main = geometry.stacks.at(-1);
    const step = main.stack.output.find((one) => one.kind === "similarity");
    const found = step && shown(store.state, step, null);
    if (!found) return;
    const x = geometry.fan.right - 112;
    main.y.forEach((middle, row) => {
      const value = found.data[query * found.columns + row];
      context.strokeStyle = ink("--flow");
      context.globalAlpha = Math.max(0.06, Math.abs(value) * 0.4);
      context.lineWidth = Math.max(0.5, Math.abs(value) * main.row * 0.3);
      context.beginPath();
      context.moveTo(geometry.fan.left + 2, main.y[query]);
      context.bezierCurveTo((geometry.fan.left + x) / 2, main.y[query], (geometry.fan.left + x) / 2, middle, x, middle);
      context.stroke();
      context.globalAlpha = 1;
      words.append(el("span", { class: row === query ? "word first" : "word", style: `left:${x + 6}px;top:${middle - 9}px` },
        el("b", {}, visible(main.stack.tokens[row])), ` ${number(value)}`));
    });
  }

  // What can be chosen, as elements: headings, tokens.

  function drawMarks() {
    const state = store.state;
    marks.textContent = "";
    for (const one of geometry.stacks) {
      const { stack, columns, top, left, label, y, row } = one;
      const heading = (text, x, chosen, choose, tour) => {
        const button = el("button", { type: "button", class: "column", "aria-pressed": String(chosen), click: choose, "data-tour": tour,
          style: `left:${x}px;top:${top - 28}px` }, text);
        marks.append(button);
      };
      const at = (layer) => store.place.stack === stack.name && store.place.layer === layer;
      const narrow = one.space < 82;
      const embedded = stack.embedding.at(-1);
      const middle = (layer) => {
        const mine = columns.filter((column) => column.layer === layer);
        return (mine[0].x + mine.at(-1).x + mine.at(-1).width) / 2;
      };
      const name = geometry.stacks.length > 1 ? stack.name : "tokens";
      marks.append(el("span", { class: "column name", style: `left:${left}px;top:${top - 28}px` }, name));
      if (embedded) {
        const close = middle(null) - left < 54 + 8 * name.length; // half of “Embedding”, and the name
        heading(narrow || close ? "Emb." : "Embedding", middle(null), at(null) && find(state, store.place.step)?.step.part === "embedding",
          () => store.change({ place: { stack: stack.name, layer: null, step: embedded.id } }), "embedding");
      }
      stack.layers.forEach((layer, index) => heading(narrow ? String(index) : `Layer ${index}`, middle(index), at(index), () => chooseLayer(stack, index), "layer-of-flow"));
      if (stack.output.length) {
        const last = stack.output.at(-1);
        heading(last.kind === "similarity" ? "Similarity to it" : "Next token", geometry.fan.right - 75, at(null) && find(state, store.place.step)?.step.part === "output",
          () => store.change({ place: { stack: stack.name, layer: null, step: last.id } }), "output");
      }
      const list = el("div", { class: "tokens", role: "listbox", tabindex: "0", "aria-label": `Tokens of the ${stack.name}`, "aria-description": "Left and right arrows choose the layer.", "data-tour": "tokens", "data-stack": stack.name,
        keydown: (event) => byKey(event, stack), style: `left:${left}px;top:${top}px;width:${label - left}px` });
      stack.tokens.forEach((token, index) => {
        const chosen = store.place.stack === stack.name && store.place.query === index;
        list.append(el("div", { role: "option", id: `token-${stack.name}-${index}`, "aria-selected": String(chosen), class: "token",
          style: `top:${y[index] - top - row / 2}px;height:${row}px;line-height:${row}px`, title: `Token ${index}: ${visible(token)}`, "aria-label": spoken(stack.tokens, index),
          click: () => store.change({ place: { stack: stack.name, query: index } }) }, visible(token)));
      });
      if (store.place.stack === stack.name) list.setAttribute("aria-activedescendant", `token-${stack.name}-${store.place.query}`);
      marks.append(list);
    }
    const main = geometry.stacks.find((one) => one.name === store.place.stack);
    const strips = main.columns.filter((column) => column.layer === store.place.layer && column.layer !== null);
    if (main.space >= (strips.length > 2 ? 200 : 82)) strips.forEach((column, index) => {
      const middle = index > 0 && index < strips.length - 1;
      const [x, side] = middle ? [column.x + column.width / 2, "middle"] : index ? [column.x + (strips.length > 2 ? 6 : 0), "after"] : [column.x + column.width - (strips.length > 2 ? 6 : 0), "before"];
      marks.append(el("span", { class: `strip ${side}`, style: `left:${x}px;top:${main.bottom + 4}px` }, STRIPS[column.part]));
    });
    marks.append(el("div", { class: "fan", "aria-hidden": "true" }));
  }

  function markChosen() {
    for (const { stack } of geometry.stacks) {
      stack.tokens.forEach((_, index) => {
        const chosen = store.place.stack === stack.name && store.place.query === index;
        marks.querySelector(`#token-${stack.name}-${index}`).setAttribute("aria-selected", String(chosen));
      });
    }
    for (const list of marks.querySelectorAll(".tokens")) {
      const chosen = list.querySelector("[aria-selected=true]");
      if (chosen) list.setAttribute("aria-activedescendant", chosen.id);
      else list.removeAttribute("aria-activedescendant");
    }
  }

  function chooseLayer(stack, layer) {
    const { step } = find(store.state, store.place.step) ?? {};
    const part = stack.layers[layer].attentions.some((one) => one.name === store.place.attention) ? store.place.attention : "self";
    const same = step && stepOf(store.state, stack.name, layer, step.part, step.kind);
    store.change({ place: { stack: stack.name, layer, attention: part, step: (same ?? stepOf(store.state, stack.name, layer, part, "weights")).id } });
  }

  function byKey(event, stack) {
    const { query, layer } = store.place;
    const last = stack.tokens.length - 1;
    const rows = { ArrowUp: query - 1, ArrowDown: query + 1, Home: 0, End: last };
    const layers = { ArrowLeft: (layer ?? 0) - 1, ArrowRight: (layer ?? -1) + 1 };
    if (event.key in rows) {
      store.change({ place: { stack: stack.name, query: Math.max(0, Math.min(last, rows[event.key])) } });
    } else if (event.key in layers) {
      chooseLayer(stack, Math.max(0, Math.min(stack.layers.length - 1, layers[event.key])));
    } else {
      return;
    }
    event.preventDefault();
  }

  function rowAt(event) {
    const box = canvas.getBoundingClientRect();
    const y = event.clientY - box.top;
    const x = event.clientX - box.left;
    for (const one of geometry.stacks) {
      if (y < one.top || y >= one.bottom || x < one.left || x > one.columns.at(-1).x + 40) continue;
      const query = Math.min(one.y.length - 1, Math.floor((y - one.top) / one.row));
      const column = one.columns.find((bar) => x >= bar.x - 2 && x <= bar.x + bar.width + 2) ?? null;
      return { stack: one.name, query, column };
    }
    return null;
  }
  /** The chosen token's ribbon under the pointer, of the attention that is chosen. */
  function ribbonAt(event) {
    const box = canvas.getBoundingClientRect();
    const { stack, layer, part } = weightsHere(store.state, store.place);
    const mine = linksOf(stack.name, layer, part, store.place.head).filter((link) => link.query === store.place.query);
    return mine.findLast((link) => onRibbon(link, event.clientX - box.left, event.clientY - box.top)) ?? null;
  }

  /** Says the weight of the ribbon that is pointed at. */
  function tell(link, event) {
    tip.hidden = !link;
    if (!link) return;
    const box = board.getBoundingClientRect();
    const { stack, layer, part } = weightsHere(store.state, store.place);
    const keys = keysOf(stack, layer, part);
    tip.textContent = `${named(stack.tokens, link.query)} → ${named(keys, link.key)}: ${number(link.weight)}`;
    tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 150)}px`;
    tip.style.top = `${event.clientY - box.top - 30}px`;
  }

  board.addEventListener("pointermove", (event) => {
    const ribbon = ribbonAt(event);
    tell(ribbon, event);
    const row = ribbon ? null : rowAt(event);
    if (row?.stack === preview?.stack && row?.query === preview?.query) return;
    look(row);
  });
  board.addEventListener("pointerleave", () => {
    tip.hidden = true;
    look(null);
  });

  /** Shows another token for as long as it is pointed at: its ribbons, and its weights in all heads. */
  function look(row) {
    preview = row;
    stop();
    drawLit();
    drawHeads();
    for (const token of marks.querySelectorAll(".token")) token.classList.toggle("pointed", token.id === `token-${row?.stack}-${row?.query}`);
    marks.classList.toggle("looking", Boolean(row));
  }

  canvas.addEventListener("click", (event) => {
    const ribbon = ribbonAt(event);
    if (ribbon) {
      store.change({ place: { key: ribbon.key } });
      return;
    }
    const row = rowAt(event);
    if (!row) return;
    const place = { stack: row.stack, query: row.query };
    const step = row.column?.step;
    store.change({ place: step ? { ...place, layer: row.column.layer, step: step.id, attention: row.column.part === "cross" ? "cross" : "self" } : place });
  });

  const keysOf = (stack, layer, part) => stackOf(store.state, stack.layers[layer]?.attentions.find((one) => one.name === part)?.keys ?? stack.name).tokens;

  // The heads of the chosen layer, as small pictures.

  function drawHeads() {
    const state = store.state;
    const here = weightsHere(state, store.place);
    const count = here.step ? (array(state, here.step.array)?.shape[0] ?? 0) : 0;
    const parts = here.stack.layers[here.layer]?.attentions ?? [];
    headsTitle.textContent = "";
    headsTitle.append(`${partName(here.part)} of layer ${here.layer}: its heads`);
    if (parts.length > 1) {
      for (const { name } of parts) {
        headsTitle.append(el("button", { type: "button", class: "choice", "aria-pressed": String(name === here.part), click: () =>
          store.change({ place: { layer: here.layer, attention: name, step: stepOf(state, here.stack.name, here.layer, name, "weights").id } }) }, partName(name)));
      }
    }
    const keyTokens = keysOf(here.stack, here.layer, here.part);
    const lit = litRow();
    const shownQuery = Math.min(lit.stack === here.stack.name ? lit.query : store.place.query, here.stack.tokens.length - 1);
    const { key } = store.place;
    const me = named(here.stack.tokens, shownQuery);
    const next = writes(state, here.stack.name, shownQuery);
    const who = next ? "It" : me;
    reads.replaceChildren(next ? `${store.state.header.changes.includes("no-mask") ? `At ${me}, having seen the whole text,` : `Having read ${me},`} it writes “${visible(next.word)}” (${number(next.probability)}). ` : "",
      key === null ? `${who} looks most at:` : `${who} looks at ${named(keyTokens, key)} with: `,
      key === null ? "" : el("button", { type: "button", class: "choice", click: () => store.change({ place: { key: null } }) }, "Each head's own"));
    const weightOf = (head, at) => {
      const { data, columns } = shown(state, here.step, head);
      return data[shownQuery * columns + at];
    };
    const largest = key === null || count < 2 ? null : [...Array(count).keys()].reduce((most, head) => (weightOf(head, key) > weightOf(most, key) ? head : most), 0);
    const all = count ? [null, ...Array(count).keys()] : [];
    heads.setAttribute("aria-label", `Heads of layer ${here.layer}`);
    select(heads).selectAll("button").data(all).join((enter) => {
      const button = enter.append("button").attr("type", "button").attr("role", "radio").attr("class", "head");
      button.append("span").attr("class", "of");
      button.append("canvas").attr("aria-hidden", "true");
      button.append("span").attr("class", "top");
      button.append("span").attr("class", "weight");
      return button;
    }).each(function one(head) {
      const found = shown(state, here.step, head);
      const query = shownQuery;
      const row = found.data.subarray(query * found.columns, (query + 1) * found.columns);
      const best = key ?? row.reduce((most, value, index) => (value > row[most] ? index : most), 0);
      this.classList.toggle("largest", head !== null && head === largest);
      const name = head === null ? "mean" : `head ${head}`;
      const chosen = store.place.head === head;
      this.setAttribute("aria-checked", String(chosen));
      this.tabIndex = chosen ? 0 : -1;
      this.setAttribute("aria-label", `${name}: “${visible(here.stack.tokens[query])}” looks ${key === null ? "most " : ""}at “${visible(keyTokens[best])}”, weight ${number(row[best])}`);
      this.title = this.getAttribute("aria-label");
      this.onclick = () => store.change({ place: { head } });
      this.querySelector(".of").textContent = name;
      this.querySelector(".top").textContent = visible(keyTokens[best]);
      this.querySelector(".weight").textContent = number(row[best]);
      const small = this.querySelector("canvas");
      const signature = `${here.step.id}|${head}|${currentTheme()}`;
      if (this.drawn !== signature || this.state !== state) {
        this.drawn = signature;
        this.state = state;
        const context = fit(small, 64, 64 * Math.min(1, found.rows / found.columns));
        paint(context, bytesOf(found, scaleFor("weights")), 0, 0, 64, 64 * Math.min(1, found.rows / found.columns));
      }
    });
  }
  heads.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move) return;
    const buttons = [...heads.children];
    const next = buttons[(buttons.findIndex((one) => one.getAttribute("aria-checked") === "true") + move + buttons.length) % buttons.length];
    next.click();
    heads.querySelector("[aria-checked=true]").focus();
    event.preventDefault();
  });

  function draw() {
    const { state, place, sampling } = store;
    if (!sheet.clientWidth) return;
    const width = Math.max(Math.floor(sheet.clientWidth), leastWidth(state));
    const theme = currentTheme();
    const before = drawnFor;
    drawnFor = { state, place, sampling, width, theme };
    const fresh = before.state !== state || before.width !== width;
    const layerMoved = fresh || before.place.layer !== place.layer || before.place.stack !== place.stack || before.place.attention !== place.attention;
    const headMoved = layerMoved || before.place.head !== place.head;
    const themeMoved = before.theme !== theme;
    const rowMoved = fresh || before.place.query !== place.query || before.place.stack !== place.stack;
    const keyMoved = !fresh && before.place.key !== place.key;
    const outside = find(state, place.step)?.step.part;
    const partMoved = before.outside !== outside;
    drawnFor.outside = outside;
    if (!headMoved && !rowMoved && !keyMoved && !themeMoved && !partMoved && before.sampling === sampling) return;
    stop();
    if (fresh) {
      kept.clear();
      geometry = flow(state, width);
      board.style.width = `${width}px`;
      board.style.height = `${geometry.height}px`;
    }
    const focused = document.activeElement?.closest(".tokens, .column");
    const which = focused ? [...marks.children].indexOf(focused) : -1;
    if (layerMoved || partMoved) {
      drawMarks();
      if (which >= 0) marks.children[which]?.focus();
    } else if (rowMoved) markChosen();
    if (headMoved || themeMoved) drawQuiet();
    const resized = before.state === state && before.width !== width;
    if (rowMoved && !resized && !still() && preview === null) stop = animate(450, drawLit);
    else drawLit();
    drawHeads();
    const here = weightsHere(state, place);
    const label = flowSentence(state, place);
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
    if (here.step) table.replaceChildren(described(state, here.step.id, place, `the ribbons of layer ${here.layer}`, table.querySelector("details")?.open ?? false));
  }
  store.subscribe(draw);
  new ResizeObserver(draw).observe(sheet);
  draw();
}
