// What BertViz's neuron view leaves unsaid: how to use it; it opens with the neurons shown, and keys can reach its tokens.
(() => {
  const { layers, attention: [{ queries }] } = window.bertviz_params;
  const vis = document.getElementById("vis");
  document.getElementById("how").textContent =
    "Point at a token on the left: its query times each token's key, neuron by neuron. The products' sum, divided by √" +
    `${queries[0][0][0].length}, is the score (under q ∙ k); the scores' softmax is the weight. ` +
    "Blue is positive, orange negative, strong color far from zero. " +
    "The − beside the token folds the neurons away, the + unfolds them. " +
    "By keyboard: Tab leads to the tokens, arrow keys along them; Enter folds and unfolds.";
  document.querySelectorAll("#layer option").forEach((option, index) => { option.textContent = layers[index]; });

  const finish = () => {
    const svg = vis.querySelector("svg");
    if (!svg) return;
    fit(svg, 1014, parseFloat(svg.getAttribute("height")) - 50); // 50 of the 100 that BertViz leaves below are enough for the last line
    squeeze(svg, ".token", 112);
    const columns = ["#expanded", "#collapsed"].map((form) => [...svg.querySelectorAll(`${form} #leftText > g`)]);
    columns.forEach((tokens, form) => {
      const fold = (token) => {
        mouse("click", token.lastElementChild); // the − or +
        columns[1 - form][tokens.indexOf(token)].focus();
      };
      reachTokens(tokens, "queries", { press: { Enter: fold, " ": fold } });
    });
  };
  new MutationObserver(finish).observe(vis, { childList: true }); // BertViz draws anew for each layer and head
  finish();
  mouse("click", vis.querySelector("#collapsed .plus-sign + rect"));
})();
