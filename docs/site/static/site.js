// What the theme leaves out: it tells no frame its colors, and does not close the list of sections after a choice.

const root = document.documentElement;
for (const frame of document.querySelectorAll("iframe.explorer")) {
  // Of a page opened as a file the frame may read nothing, so it is told.
  const tell = () => frame.contentWindow.postMessage({ theme: root.dataset.theme }, "*");
  frame.addEventListener("load", tell);
  new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  tell();
}

document.addEventListener("click", ({ target }) => target.closest('dialog a[href^="#"]')?.closest("dialog").close());
