// What the theme leaves out: it tells no frame its colors, does not show which run is chosen, marks no section that is scrolled past quickly, and does not close
// the list of sections after a choice.

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
const choose = (chosen) => {
  runs.forEach((run) => run.toggleAttribute("aria-current", run === chosen));
  document.getElementById("alone").setAttribute("href", chosen.getAttribute("href"));
};
for (const run of runs)
  run.addEventListener("click", () => {
    choose(run);
    history.replaceState(null, "", `#${run.id}`);
  });
// explore.html#gpt shows the GPT.
const chooseByAddress = () => {
  const run = [...runs].find(({ id }) => `#${id}` === location.hash);
  if (run) document.querySelector("iframe.explorer").src = run.href;
  choose(run ?? runs[0]);
};
if (runs.length) {
  chooseByAddress();
  addEventListener("hashchange", chooseByAddress);
}

document.addEventListener("click", ({ target }) => target.closest('dialog a[href^="#"]')?.closest("dialog").close());

// On a phone the map is wider than the window: it begins where the reader is.
for (const frame of document.querySelectorAll(".map-frame")) {
  const here = frame.querySelector(".here")?.getBoundingClientRect();
  if (here) frame.scrollLeft = here.left + here.width / 2 - frame.getBoundingClientRect().left - frame.clientWidth / 2;
}

// What is wider than its place fades out at the right, until its end is seen.
const WIDE = ".formula, .map-frame, .pst-scrollable-table-container, .cell_output .output, .cell_output pre, .highlight-console pre, p:has(> math, > .whole), p:has(> img)";
const goesOn = (part) => part.classList.toggle("goes-on", part.scrollLeft + part.clientWidth < part.scrollWidth - 2);
const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => goesOn(target)));
for (const part of document.querySelectorAll(WIDE)) {
  sizes.observe(part);
  part.addEventListener("scroll", () => goesOn(part), { passive: true });
}

// Paper is white, and nothing opens on it. What only JupyterLab can do stays folded, as do the words below an explorer.
let theme, folds;
addEventListener("beforeprint", () => {
  theme = root.dataset.theme;
  root.dataset.theme = "light";
  folds = document.querySelectorAll(".bd-article details:not([open], .jupyterlab, .anatomy-explorer + *)");
  for (const fold of folds) fold.open = true;
});
addEventListener("afterprint", () => {
  root.dataset.theme = theme;
  for (const fold of folds) fold.open = false;
});

// On a phone a long name goes on after a _.
for (const name of document.querySelectorAll(".bd-sidebar-secondary code .pre")) name.innerHTML = name.innerHTML.replaceAll("_", "_<wbr>");

// On a phone a wide view scrolls; how to use it is read without.
for (const frame of document.querySelectorAll("iframe[srcdoc]")) {
  const narrow = () => {
    const how = frame.contentDocument?.getElementById("how");
    if (how) how.style.maxWidth = `${frame.parentElement.clientWidth - 32}px`;
  };
  frame.addEventListener("load", narrow);
  narrow();
}

// The list of sections marks the one that is read. The theme's own marks only what it sees in the upper third, so it gets no list to mark.
const list = document.getElementById("pst-page-toc-nav");
if (list) {
  list.id = "sections";
  const entries = [...list.querySelectorAll("a.nav-link")].map((link) => {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    return { link, heading: section?.querySelector("h1, h2, h3, h4, h5, h6") ?? section };
  });
  const LINE = 160; // pixels below the window's upper edge: a section whose heading is above has begun
  let read;
  const mark = () => {
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const begun = entries.filter(({ heading }) => heading && (atEnd || heading.getBoundingClientRect().top < LINE));
    const link = begun.at(-1)?.link;
    if (link === read) return;
    read?.removeAttribute("aria-current");
    read = link;
    if (!link) return;
    link.setAttribute("aria-current", "true");
    const sidebar = list.closest(".bd-sidebar-secondary");
    if (sidebar && getComputedStyle(sidebar).position === "sticky")
      sidebar.scrollTop += link.getBoundingClientRect().top - sidebar.getBoundingClientRect().top - sidebar.clientHeight / 2;
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}
