/* Which token comes next: the distribution that notebooks 09 and 14 cut, and a draw from it.

   The functions do what `next_token_probabilities` (Exercise 9.9) and `min_p_probabilities` (Exercise 14.15) do;
   tests/exploring/test_sampling.py compares them. */

/** Softmax of an array of logits, some of which may be −∞. */
export function softmax(logits) {
  const largest = logits.reduce((most, each) => Math.max(most, each), -Infinity);
  const powers = Float64Array.from(logits, (each) => Math.exp(each - largest));
  return scaledToOne(powers);
}

/**
 * The distribution from which the next token is drawn.
 *
 * A `topK` of 0, a `topP` of 1 and a `minP` of 0 (or null) cut nothing. They apply in this order, each to what the one
 * before left.
 * A temperature of 0 is greedy: all probability is at the largest logit, the first one where several are largest.
 */
export function probabilities(logits, settings = {}) {
  const { temperature, topK, topP, minP } = complete(settings);
  if (temperature === 0) {
    const greedy = new Float64Array(logits.length);
    greedy[argmax(logits)] = 1;
    return greedy;
  }
  let divided = Float64Array.from(logits, (each) => each / temperature);
  if (topK !== null && topK < divided.length) {
    const least = Float64Array.from(divided).sort()[divided.length - topK];
    divided = divided.map((each) => (each < least ? -Infinity : each));
  }
  let result = softmax(divided);
  if (topP !== null) result = nucleus(result, topP);
  if (minP !== null) {
    const least = minP * result[argmax(result)];
    result = scaledToOne(result.map((each) => (each < least ? 0 : each)));
  }
  return result;
}

/**
 * The same where a state holds the most probable tokens only: their logits, largest first, and `rest`, the logsumexp
 * of all others.
 *
 * Gives `{listed, rest, exact}`: the probabilities of the listed tokens, that of all others together, and whether this
 * is the model's own distribution. It is not where the others would count and nobody knows how (a temperature that is
 * not 1, a cut that goes beyond the list): then the listed tokens share all of the probability.
 */
export function probabilitiesOfLikely(logits, rest, settings = {}) {
  const { temperature, topK, topP, minP } = complete(settings);
  if (temperature === 1 && topK === null) {
    const all = softmax([...logits, rest]);
    const others = all[logits.length];
    if (topP === null && minP === null) return { listed: all.slice(0, -1), rest: others, exact: true };
    if (topP !== null && topP <= 1 - others) {
      const listed = probabilities(logits, { topP: topP / (1 - others), minP }); // the same share of the list alone
      return { listed, rest: 0, exact: true };
    }
  }
  const shares = softmax(Array.from(logits, (each) => each / (temperature || 1)));
  const cutByMinP = topP === null && minP !== null && shares[logits.length - 1] < minP * shares[0];
  const exact = temperature === 0 || (topK !== null && topK <= logits.length) || cutByMinP;
  return { listed: probabilities(logits, settings), rest: 0, exact };
}

/** Random numbers from 0 up to 1, the same ones for the same seed (mulberry32 by Tommy Ettinger, public domain). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One index, each with its probability; never one whose probability is 0. */
export function draw(distribution, random) {
  let left = random() * distribution.reduce((sum, each) => sum + each, 0);
  let last = -1;
  for (let index = 0; index < distribution.length; index++) {
    if (distribution[index] <= 0) continue;
    last = index;
    left -= distribution[index];
    if (left < 0) break;
  }
  return last;
}

/** Where the largest entry stands: the first place, if there are several. */
export function argmax(numbers) {
  let best = 0;
  for (let index = 1; index < numbers.length; index++) if (numbers[index] > numbers[best]) best = index;
  return best;
}

function complete({ temperature = 1, topK = null, topP = null, minP = null }) {
  return { temperature, topK: topK || null, topP: topP === 1 ? null : topP, minP: minP || null };
}

/** The fewest most probable entries that have at least `topP` together; all others become 0. */
function nucleus(distribution, topP) {
  const order = [...distribution.keys()].sort((a, b) => distribution[b] - distribution[a]); // stable: ties by id
  const kept = new Float64Array(distribution.length);
  let sum = 0;
  for (const index of order) {
    sum += distribution[index];
    if (sum - distribution[index] < topP) kept[index] = distribution[index];
  }
  return scaledToOne(kept);
}

function scaledToOne(numbers) {
  const sum = numbers.reduce((total, each) => total + each, 0);
  return numbers.map((each) => each / sum);
}
