// The search's results: what comes first; below each the section that has most of the words, and the line where the first one stands.
// SECTIONS (sections.js): page -> [[anchor, title, text], …]. Nothing is fetched, so it works for files, too.

const query = new URLSearchParams(location.search).get("q") ?? "";
// A term has its other names in parentheses.
const isNamed = (title) => title.toLowerCase().split(/ \(|, |\)/).includes(query.trim().toLowerCase());
// Sphinx finds other endings of a word as well, so the last letters of a long one don't count.
const stems = (query.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? []).map((word) => word.slice(0, Math.max(4, word.length - 2)));
const pattern = stems.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join("|")})[\\p{L}\\p{N}]*`, "giu") : null;
const BEFORE = 70, LENGTH = 230;

function best(page, anchor) {
  const here = SECTIONS[page].filter((section) => section[0] === anchor);
  const rank = ([, title, text]) => {
    const found = (title + " " + text).toLowerCase();
    return 1e6 * isNamed(title) + 1000 * stems.filter((stem) => found.includes(stem)).length + (found.match(pattern) ?? []).length;
  };
  return here[0] ?? SECTIONS[page].reduce((one, other) => (rank(other) > rank(one) ? other : one));
}

function excerpt(text) {
  const first = text.search(pattern);
  const start = first > BEFORE ? text.indexOf(" ", first - BEFORE) + 1 : 0;
  const end = start + LENGTH < text.length ? text.lastIndexOf(" ", start + LENGTH) : text.length;
  return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
}

function marked(text) {
  const line = document.createElement("p");
  line.className = "excerpt";
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    line.append(text.slice(end, found.index), Object.assign(document.createElement("mark"), { textContent: found[0] }));
    end = found.index + found[0].length;
  }
  line.append(text.slice(end));
  return line;
}

function complete(item) {
  const link = item.querySelector("a");
  const [address, anchor] = link.getAttribute("href").split("#");
  const page = address.replace(/\?.*/, "").replace(/\.html$/, "");
  if (!SECTIONS[page]?.length) return;
  const [place, title, text] = best(page, anchor);
  if (!anchor && place !== SECTIONS[page][0][0]) {
    const section = Object.assign(document.createElement("a"), { href: `${address}#${place}`, textContent: title });
    section.className = "section-found";
    item.append(section);
  }
  if (text) item.append(marked(excerpt(text)));
}

// Sphinx also asks for categories, of which there are none here.
const NOTHING = "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.";
Documentation.TRANSLATIONS[NOTHING] = "No page has all of these words. Try fewer words, or other ones.";

// A page that has all the words in its title comes first, then one with a section or term of that name, then one that has them in the title of a section or in a term: Sphinx counts titles by single
// words, and the alphabet decides.
const inTitle = (title) => stems.every((stem) => title.toLowerCase().includes(stem));
Scorer.score = ([page, title, , , score]) => score + (inTitle(title) ? 100 : SECTIONS[page]?.some((section) => isNamed(section[1])) ? 75 : SECTIONS[page]?.some((section) => inTitle(section[1])) ? 50 : 0);

if (pattern)
  new MutationObserver((changes) =>
    changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.matches?.("ul.search > li")).forEach(complete),
  ).observe(document.getElementById("search-results"), { childList: true, subtree: true });
