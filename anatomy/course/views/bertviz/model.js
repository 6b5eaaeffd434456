// What BertViz's model view leaves unsaid: how to use it; it stays whole on a narrow page, and keys reach all of it.
(() => {
  const vis = document.getElementById("vis");
  document.getElementById("how").textContent =
    "One thumbnail per head: queries on its left, keys on its right, a line as strong as its weight. " +
    "Click one to read its tokens; point at a token on the left to see its lines alone. Click again to close it. " +
    "By keyboard: Tab leads to the thumbnails and to the tokens, arrow keys along them; Enter opens and closes.";
  const { include_layers: layers, include_heads: heads } = window.bertviz_params;
  const thumbnails = () => [...vis.querySelectorAll(".attn_background")];
  const open = () => thumbnails().find((back) => +back.getAttribute("stroke-opacity"));
  const click = (back) => back && mouse("click", back.parentNode.lastElementChild);

  const finish = () => {
    const svg = vis.querySelector("svg");
    if (!svg) return;
    fit(svg, +svg.getAttribute("width"), +svg.getAttribute("height"));
    squeeze(svg, ".detail .token", 76);
    letKeysIn(svg);
  };
  const letKeysIn = (svg) => {
    const backs = thumbnails(), groups = backs.map((back) => back.parentNode);
    if (!backs.at(-1)?.parentNode.hasAttribute("tabindex")) {
      const press = (group) => click(group.firstElementChild);
      reach(groups, "button", { across: heads.length, press: { Enter: press, " ": press } });
      groups.forEach((group, index) => {
        const layer = layers[Math.floor(index / heads.length)];
        group.setAttribute("aria-label", `layer ${layer}, head ${heads[index % heads.length]}`);
      });
    }
    groups.forEach((group, index) => group.setAttribute("aria-expanded", backs[index] === open()));
    const queries = svg.querySelector("g.detail");
    if (queries && !queries.hasAttribute("role")) reachTokens([...queries.children], "queries");
  };
  new MutationObserver(finish).observe(vis, { childList: true, subtree: true });
  finish();

  // BertViz takes an open head for still open when another part of the attention is drawn: close it before, open it after.
  document.addEventListener("change", () => {
    const before = open();
    click(before);
    if (before) setTimeout(() => click(document.getElementById(before.id)));
  }, true);
})();
