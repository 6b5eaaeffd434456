// Where everything of the overview stands: columns, rows, ribbons. Arithmetic only; overview.js draws it.

import { shown, stepOf, streamAfter } from "./state.js";

const MOST_ROW = 28;
const LEAST_ROW = 14; // labels of 12 px stay legible
const TOP = 34; // headings
const LEAST_LAYER = 40; // pixels: a layer's number stands apart from its neighbors'
const LEAST_FAN = 150;
const [ENCODER_ENDS, DECODER_BEGINS] = [0.52, 0.3]; // of the width, where there are both

/** Pixels between two rows: few tokens stand far apart, many close together. */
export const rowHeight = (tokens) => Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(560 / tokens)));

function widest(tokens) {
  return Math.max(...tokens.map((token) => token.length));
}

/** Pixels from where a stack begins to where its tokens end. */
const labelWidth = (tokens, two) => Math.max(two ? 68 : 58, Math.min(130, 20 + 8.4 * widest(tokens)));

/** How many times a layer's space all columns take: the embedding takes less than a layer. */
const gapsOf = (stack) => stack.layers.length + 0.75;

/** The narrowest picture in which no heading stands on another, in pixels. */
export function leastWidth(state) {
  const stacks = state.header.stacks;
  const two = stacks.length === 2;
  return Math.ceil(Math.max(...stacks.map((stack, index) => {
    const columns = labelWidth(stack.tokens, two) + 8 + gapsOf(stack) * LEAST_LAYER;
    if (!two) return columns + LEAST_FAN;
    return index ? (columns + LEAST_FAN) / (1 - DECODER_BEGINS) : columns / ENCODER_ENDS;
  })));
}

function columnsOf(state, stack, left, right) {
  const attentions = Math.max(1, stack.layers[0]?.attentions.length ?? 1);
  const space = (right - left) / gapsOf(stack);
  const bar = Math.max(5, Math.min(26, space * 0.13));
  const columns = [];
  const named = (kind) => stack.embedding.find((step) => step.kind === kind) ?? null;
  const inEmbedding = ["token_vectors", "positions", "embedded"].map(named).filter(Boolean);
  const apart = Math.min(bar + 16, (space * 0.75 - bar) / 2.4);
  inEmbedding.forEach((step, index) => columns.push({ layer: null, part: "embedding", step, x: left + index * apart, width: bar }));
  const start = left + space * 0.75;
  stack.layers.forEach((layer, index) => {
    const end = start + (index + 1) * space - space * 0.12;
    const parts = [...layer.attentions.map((one) => one.name), "feed_forward"];
    parts.forEach((part, place) => {
      const x = end - (parts.length - place) * (bar + 4);
      columns.push({ layer: index, part, step: streamAfter(layer.steps, part), x, width: bar });
    });
  });
  return { columns, space, bar, attentions };
}

/**
 * The overview's geometry for a width: `{width, height, stacks, fan}`. Each stack has `name`, `tokens`, `row` (the
 * height of one), `y` (the middle of each row), `label` (where labels end), and `columns`, each
 * `{layer, part, step, x, width}`.
 */
export function flow(state, width) {
  const stacks = state.header.stacks;
  const two = stacks.length === 2;
  const fanWidth = Math.max(LEAST_FAN, Math.min(220, width * 0.17));
  const made = [];
  let top = TOP;
  stacks.forEach((stack, index) => {
    const row = rowHeight(Math.max(...stacks.map((one) => one.tokens.length * (two ? 1.4 : 1))));
    const label = labelWidth(stack.tokens, two);
    const last = index === stacks.length - 1;
    const left = two && last ? width * DECODER_BEGINS : 0;
    const right = last ? width - fanWidth : width * ENCODER_ENDS;
    const { columns, space, bar } = columnsOf(state, stack, left + label + 8, right);
    const y = stack.tokens.map((_, place) => top + (place + 0.5) * row);
    made.push({ name: stack.name, stack, row, y, top, bottom: top + stack.tokens.length * row, label: left + label, left, columns, space, bar });
    top += stack.tokens.length * row + TOP + 14;
  });
  const main = made.at(-1);
  return { width, height: Math.max(main.bottom + 24, main.top + 190), stacks: made, fan: { left: main.columns.at(-1).x + main.columns.at(-1).width, right: width } };
}

/** Where the ends of one key's ribbons lie: one after another, closer where they are more than the row holds. */
function ends(widths, middle, height) {
  const total = widths.reduce((sum, width) => sum + width, 0);
  const last = widths.at(-1) ?? 0;
  const pressed = total > height && total > last ? (height - last) / (total - last) : 1;
  let at = middle - Math.min(total, height) / 2;
  return widths.map((width) => {
    const place = at + width / 2;
    at += width * Math.max(0, pressed);
    return place;
  });
}

/** Whether a point lies on a ribbon, or within `near` pixels of it. Its middle is the curve that sankeyLinkHorizontal draws. */
export function onRibbon({ source: { x1: from }, target: { x0: to }, y0, y1, width }, x, y, near = 2) {
  const part = (x - from) / (to - from);
  if (!(part >= 0 && part <= 1)) return false;
  let [low, high] = [0, 1];
  for (let turn = 0; turn < 20; turn += 1) {
    const t = (low + high) / 2;
    if (1.5 * t * (1 - t) + t ** 3 < part) low = t;
    else high = t;
  }
  return Math.abs(y - y0 - (y1 - y0) * (3 * low ** 2 - 2 * low ** 3)) <= width / 2 + near;
}

/**
 * The ribbons of one attention: `{source: {x1}, target: {x0}, y0, y1, width, weight, query, key}`, as d3-sankey's links
 * are. A ribbon is as wide as its weight at both ends: a query's weights sum to 1 and fill its row. Weights below
 * `least` are not drawn.
 */
export function ribbons(state, geometry, stackName, layer, part, head, least) {
  const there = geometry.stacks.find((one) => one.name === stackName);
  const keys = there.stack.layers[layer].attentions.find((one) => one.name === part)?.keys ?? stackName;
  const from = geometry.stacks.find((one) => one.name === keys);
  const step = stepOf(state, stackName, layer, part, "weights");
  const weights = step && shown(state, step, head);
  if (!weights) return [];
  const target = there.columns.find((one) => one.layer === layer && one.part === part);
  const before = part === "cross" ? from.columns.at(-1) : there.columns.findLast((one) => (one.layer ?? -1) < layer);
  const thick = there.row * 0.86;
  const links = [];
  for (let query = 0; query < weights.rows; query += 1) {
    let at = there.y[query] - thick / 2;
    for (let key = 0; key < weights.columns; key += 1) {
      const weight = weights.data[query * weights.columns + key];
      const width = weight * thick;
      if (weight >= least) {
        links.push({ source: { x1: before.x + before.width }, target: { x0: target.x }, y0: 0, y1: at + width / 2, width, weight, query, key });
      }
      at += width;
    }
  }
  for (let key = 0; key < weights.columns; key += 1) {
    const mine = links.filter((link) => link.key === key);
    ends(mine.map((link) => link.width), from.y[key], from.row * 0.86).forEach((y, index) => (mine[index].y0 = y));
  }
  return links;
}
