// What a mouse can do in BertViz's drawings, keys can do, too.
window.mouse = (name, element) => element.dispatchEvent(new MouseEvent(name));

// Elements that belong together are one stop for Tab, and arrow keys lead from one to the next; `across` is how many
// stand side by side. `enter` and `leave` are called with the element that gets or loses the focus, `press` has what
// other keys do.
window.reach = (elements, role, { across = 1, enter, leave, press = {} }) =>
  elements.forEach((element, index) => {
    const steps = { ArrowRight: 1, ArrowDown: across, ArrowLeft: -1, ArrowUp: -across };
    element.setAttribute("role", role);
    element.setAttribute("tabindex", index ? -1 : 0);
    element.addEventListener("focus", () => {
      for (const other of elements) other.setAttribute("tabindex", other === element ? 0 : -1);
      enter?.(element);
    });
    element.addEventListener("blur", () => leave?.(element));
    element.addEventListener("keydown", (event) => {
      if (event.key in steps) elements[index + steps[event.key]]?.focus();
      else if (event.key in press) press[event.key](element);
      else return;
      event.preventDefault();
    });
  });

// A column of tokens: the one with the focus is pointed at. `column` is what the mouse leaves where that is not a token.
window.reachTokens = (tokens, name, { column, press } = {}) => {
  const list = tokens[0].parentNode;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", name);
  const choose = (token, chosen) => {
    token.setAttribute("aria-selected", chosen);
    mouse(chosen ? "mouseover" : "mouseleave", chosen ? token : column ?? token);
  };
  for (const token of tokens) token.setAttribute("aria-selected", false);
  reach(tokens, "option", { enter: (token) => choose(token, true), leave: (token) => choose(token, false), press });
};
