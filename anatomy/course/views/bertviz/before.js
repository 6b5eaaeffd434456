// BertViz asks require.js for its libraries by name; here they are in the frame already.
window.requirejs = (names, run) => run(...names.map((name) => ({ jquery: window.jQuery, d3: window.d3 })[name]));
window.require = window.requirejs;
window.require.config = () => {};

// Two sentences come as one whole, so that no number is there twice; BertViz wants the four parts of it, too.
(({ attention, sentence_b_start: start }) => {
  if (start === null) return;
  const [whole] = attention;
  const a = (list) => list.slice(0, start), b = (list) => list.slice(start);
  const heads = (layers, change) => layers?.map((layer) => layer.map(change));
  for (const [left, right] of [[a, a], [b, b], [a, b], [b, a]])
    attention.push({
      left_text: left(whole.left_text),
      right_text: right(whole.right_text),
      attn: heads(whole.attn, (weights) => left(weights).map(right)),
      queries: heads(whole.queries, left),
      keys: heads(whole.keys, right),
    });
})(window.bertviz_params);
