// What BertViz's neuron view leaves unsaid: how to use it; it opens with the neurons shown, and keys can reach its tokens.
(() => {
  const { layers, attention: [{ queries }] } = window.bertviz_params;
  const vis = document.getElementById("vis");
  document.getElementById("how").textContent =
    "Point at a token on the left: its query times each token's key, neuron by neuron. The products' sum, divided by √" +
    `${queries[0][0][0].length}, is the score (under q ∙ k); the scores' softmax is the weight. ` +
    "Blue is positive, orange negative, strong color far from zero. " +
    "The − beside the token folds the neurons away, the + unfolds them.";
  document.querySelectorAll("#layer option").forEach((option, index) => { option.textContent = layers[index]; });

  const event = (name) => new MouseEvent(name);
  const finish = () => {
    const svg = vis.querySelector("svg");
    if (!svg) return;
    fit(svg, 1014, parseFloat(svg.getAttribute("height")) - 50); // 50 of the 100 that BertViz leaves below are enough for the last line
    squeeze(svg, ".token", 112);
    svg.querySelectorAll("#leftText > g").forEach((token) => {
      token.setAttribute("tabindex", 0);
      token.addEventListener("focus", () => token.dispatchEvent(event("mouseover")));
      token.addEventListener("blur", () => token.dispatchEvent(event("mouseleave")));
    });
  };
  new MutationObserver(finish).observe(vis, { childList: true }); // BertViz draws anew for each layer and head
  finish();
  vis.querySelector("#collapsed .plus-sign + rect").dispatchEvent(event("click"));
})();
