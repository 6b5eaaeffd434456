// The theme: light on paper; JupyterLab's or the site's where the page stands in one of them, otherwise what the reader's
// system prefers.

import { setColorTheme } from "./color.js";

let told = null; // by a page around this one that may not be read, as that of a file
let printed = false;
let set = () => {};

// It may speak before followTheme is called. (Node, which runs the tests, has no window to listen to.)
globalThis.addEventListener?.("message", ({ source, data }) => {
  if (source !== window.parent || !["dark", "light"].includes(data?.theme)) return;
  told = data.theme;
  set();
});

function outer() {
  try {
    return window.parent !== window ? window.parent.document : null;
  } catch {
    return null; // another origin
  }
}

function wanted(around, prefersDark) {
  if (printed) return "light";
  const jupyter = around?.body?.dataset.jpThemeLight;
  if (jupyter) return jupyter === "false" ? "dark" : "light";
  const site = around?.documentElement.dataset.theme;
  if (site === "dark" || site === "light") return site;
  return told ?? (prefersDark.matches ? "dark" : "light");
}

/** Sets the page's theme and calls `draw()` whenever it changes. */
export function followTheme(draw) {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const around = outer();
  set = () => {
    const name = wanted(around, prefersDark);
    if (document.documentElement.dataset.theme === name) return;
    document.documentElement.dataset.theme = name;
    setColorTheme(name);
    draw();
  };
  prefersDark.addEventListener("change", set);
  for (const [event, begins] of [["beforeprint", true], ["afterprint", false]])
    addEventListener(event, () => {
      printed = begins;
      set();
    });
  if (around) {
    const watch = new MutationObserver(set);
    watch.observe(around.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    watch.observe(around.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }
  set();
}
