// What BertViz's head view leaves unsaid: how to use it, and which square is which head; and keys reach all of it.
(() => {
  const vis = document.getElementById("vis");
  document.getElementById("how").textContent =
    "Left the queries, right the keys; a line is as strong as its weight. Point at a token to see its lines alone. " +
    "Each square is a head: click to switch it on or off, double-click to see it alone. " +
    "By keyboard: Tab leads to tokens and heads, arrow keys along them; Space switches a head, Enter shows it alone.";

  // Long tokens stick out on the left: give them room.
  const makeRoom = (svg) => {
    const overhang = Math.min(0, ...[...svg.querySelectorAll("#left text")].map((text) => text.getBBox().x));
    vis.style.paddingLeft = `${Math.ceil(-overhang)}px`;
  };
  const nameHeads = (svg) => {
    const squares = svg.lastElementChild;
    const make = (tag, text) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      element.textContent = text;
      return element;
    };
    squares.querySelectorAll("rect").forEach((square, head) => {
      square.style.cursor = "pointer";
      square.append(make("title", `head ${head}`));
      const label = make("text", head);
      label.setAttribute("aria-hidden", true);
      label.setAttribute("x", +square.getAttribute("x") + square.getAttribute("width") / 2);
      label.setAttribute("y", +square.getAttribute("y") + 14);
      label.setAttribute("style", "font-size:11px;text-anchor:middle;fill:#1f2933;stroke:#fff;stroke-width:2.5px;paint-order:stroke;pointer-events:none");
      squares.append(label);
    });
  };
  const letKeysIn = (svg) => {
    for (const [side, name] of [["left", "queries"], ["right", "keys"]]) {
      const column = svg.querySelector(`#${side}`);
      reachTokens([...column.lastElementChild.children], name, { column });
    }
    const heads = svg.lastElementChild, squares = [...heads.querySelectorAll("rect")];
    heads.setAttribute("role", "group");
    heads.setAttribute("aria-label", "heads");
    reach(squares, "checkbox", {
      press: { " ": (square) => mouse("click", square), Enter: (square) => mouse("dblclick", square) },
    });
    const tell = () =>
      squares.forEach((square, head) => {
        const line = svg.querySelector(`.headAttention[head-index="${head}"] line`);
        square.setAttribute("aria-label", `head ${head}`);
        square.setAttribute("aria-checked", square.getAttribute("fill") === line.getAttribute("stroke")); // else it is pale
      });
    new MutationObserver(tell).observe(heads, { subtree: true, attributeFilter: ["fill"] });
    tell();
  };
  const finish = () => {
    const svg = vis.querySelector("svg");
    if (svg) { makeRoom(svg); nameHeads(svg); letKeysIn(svg); }
  };
  new MutationObserver(finish).observe(vis, { childList: true }); // BertViz draws anew for each layer
  finish();
})();
