/* What the page says aloud: one short sentence for each action, in the page's only live region. */

import { chances } from "./chances.js";
import { weightsSentence, whereTheyDiffer } from "./difference.js";
import { el } from "./draw.js";
import { SETTINGS, positionOf } from "./predictions.js";
import { announce, writeTo } from "./region.js";
import { find, labels, stackOf, stepOf } from "./state.js";
import { gridOf, heard, heardAt, number, strongest, whereOf } from "./words.js";

const WORDS = 2; // that are named with a slider
const PARTS = { self: "Self-attention", cross: "Cross-attention" };

/** What the chosen token looks at most, behind what was chosen: “Layer 2: arrow looks most at [CLS], 0.75”. */
export function chosenSentence(state, place, what) {
  const stack = stackOf(state, place.stack);
  const layer = place.layer ?? 0;
  const before = what.length ? `${what.join(", ")}: ` : "";
  const query = heardAt(stack.tokens, place.query);
  const step = stepOf(state, stack.name, layer, place.attention, "weights") ?? stepOf(state, stack.name, layer, "self", "weights");
  const grid = step && gridOf(state, step, place);
  if (!grid) return `${before}${query}`;
  const row = grid.data.subarray(place.query * grid.columns, (place.query + 1) * grid.columns);
  const key = place.key ?? strongest(row, 1)[0];
  if (key === undefined) return `${before}${query}: its weights are not numbers`;
  return `${before}${query} looks ${place.key === null ? "most " : ""}at ${heardAt(labels(state, step, stack).columns, key)}, ${number(row[key])}`;
}

/** The sliders that were moved and what is now most probable: “Temperature 0.50: a 0.43, t 0.32”. */
export function slidersSentence(state, place, before, sampling) {
  const moved = SETTINGS.filter(([name]) => before[name] !== sampling[name]).map(([name, title, , show]) => `${title} ${show(sampling[name])}`);
  const found = moved.length ? chances(state, positionOf(state, place), sampling) : null;
  if (!found) return "";
  return `${moved.join(", ")}: ${found.words.slice(0, WORDS).filter(({ p }) => p > 0).map(({ word, p }) => `${heard(word)} ${number(p)}`).join(", ")}`;
}

/** The sentence for what an action changed, from `{state, beside, place, sampling}` before and now; empty where it is not to be said. */
export function happened(before, now) {
  const { state, beside, place, sampling } = now;
  if (beside && (before.state !== state || before.beside !== beside)) return weightsSentence(state, beside, place) || whereTheyDiffer(state, beside);
  if (before.state !== state) return "";
  if (before.sampling !== sampling) return slidersSentence(state, place, before.sampling, sampling);
  const was = before.place;
  const moved = (...names) => names.some((name) => place[name] !== was[name]);
  const layer = moved("layer", "stack") && place.layer !== null;
  const inStack = state.header.stacks.length > 1 ? ` of the ${place.stack}` : "";
  const [one, other] = [was.step, place.step].map((id) => find(state, id)?.step);
  const opened = other && (one?.kind !== other.kind || one.part !== other.part);
  if (opened && (other.kind !== "weights" || !moved("layer", "stack", "attention", "head", "query", "key"))) {
    return `${layer ? `Layer ${place.layer}${inStack}. ` : ""}${other.title}${whereOf(other, state)}: ${other.formula}`;
  }
  if (!moved("layer", "stack", "attention", "head", "query", "key")) return "";
  return chosenSentence(state, place, [
    layer ? `Layer ${place.layer}${inStack}` : "",
    moved("attention") ? PARTS[place.attention] : "",
    moved("head") ? (place.head === null ? "Mean over heads" : `Head ${place.head}`) : "",
  ].filter(Boolean));
}

/** Puts the region into the page, and says there what each action changes. */
export function mount(element, store) {
  const region = el("p", { class: "unseen", role: "status" });
  element.append(region);
  writeTo((text) => (region.textContent = text));
  const now = () => ({ state: store.state, beside: store.states[store.beside] ?? null, place: store.place, sampling: store.sampling });
  let before = now();
  store.subscribe(() => {
    const after = now();
    const text = happened(before, after);
    before = after;
    if (text) announce(text);
  });
}
