// The words that may come next, with their probabilities under the chosen settings.

import { probabilities, probabilitiesOfLikely } from "./sampling.js";
import { wordsAt } from "./state.js";

/**
 * `{words: [{id, word, logit, p}], rest, exact}`, the most probable first; `rest` is the probability of all words that are
 * not listed. Null where the model predicts nothing.
 */
export function chances(state, query, sampling) {
  const found = wordsAt(state, query);
  if (!found) return null;
  const logits = found.words.map((one) => one.logit);
  const { listed, rest, exact } = found.rest === null
    ? { listed: probabilities(logits, sampling), rest: 0, exact: true }
    : probabilitiesOfLikely(logits, found.rest, sampling);
  const words = found.words.map((one, index) => ({ ...one, p: listed[index] }));
  words.sort((a, b) => b.p - a.p || b.logit - a.logit);
  return { words, rest, exact };
}
