// BertViz draws in fixed sizes. A drawing that is wider than its page is scaled, so that nothing is cut off.
window.fit = (svg, width, height) => {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  Object.assign(svg.style, { width: "100%", maxWidth: `${width}px`, height: "auto" });
};

// Tokens that are longer than their box are written narrower.
window.squeeze = (svg, selector, width) => {
  for (const text of svg.querySelectorAll(selector))
    if (text.getComputedTextLength() > width) {
      text.setAttribute("textLength", width);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
};
