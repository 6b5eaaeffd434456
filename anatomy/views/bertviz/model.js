// What BertViz's model view leaves unsaid: how to use it; and it stays whole on a narrow page.
(() => {
  const vis = document.getElementById("vis");
  document.getElementById("how").textContent =
    "One thumbnail per head: queries on its left, keys on its right, a line as strong as its weight. " +
    "Click one to read its tokens; point at a token on the left to see its lines alone. Click again to close it.";

  const finish = () => {
    const svg = vis.querySelector("svg");
    if (!svg) return;
    fit(svg, +svg.getAttribute("width"), +svg.getAttribute("height"));
    squeeze(svg, ".detail .token", 76);
  };
  new MutationObserver(finish).observe(vis, { childList: true, subtree: true });
  finish();

  // BertViz takes an open head for still open when another part of the attention is drawn: close it before, open it after.
  const thumbnail = () => [...vis.querySelectorAll(".attn_background")].find((back) => +back.getAttribute("stroke-opacity"));
  const click = (back) => back?.parentNode.lastElementChild.dispatchEvent(new MouseEvent("click"));
  document.addEventListener("change", () => {
    const open = thumbnail();
    click(open);
    if (open) setTimeout(() => click(document.getElementById(open.id)));
  }, true);
})();
