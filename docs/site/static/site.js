// What the theme leaves out: it tells no frame its colors, does not show which run is chosen, and does not close the list of sections after a choice.

const root = document.documentElement;
for (const frame of document.querySelectorAll("iframe.explorer")) {
  // Of a page opened as a file the frame may read nothing, so it is told.
  const tell = () => frame.contentWindow.postMessage({ theme: root.dataset.theme }, "*");
  frame.addEventListener("load", tell);
  new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  tell();
  // There it can't set its own height either, and says it.
  addEventListener("message", ({ source, data }) => {
    if (source === frame.contentWindow && data.type === "height") frame.style.height = `${data.height}px`;
  });
}

const runs = document.querySelectorAll("a[target=explorer]");
const choose = (chosen) => runs.forEach((run) => run.toggleAttribute("aria-current", run === chosen));
runs.forEach((run) => run.addEventListener("click", () => choose(run)));
choose(runs[0]);

document.addEventListener("click", ({ target }) => target.closest('dialog a[href^="#"]')?.closest("dialog").close());
