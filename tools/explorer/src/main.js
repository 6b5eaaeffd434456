// Puts the page together: reads its states, makes a place for each part, and links the page to its host.

import * as announcing from "./announce.js";
import * as cache from "./cache.js";
import * as changes from "./changes.js";
import * as difference from "./difference.js";
import * as head from "./head.js";
import { connect, tellHeight } from "./host.js";
import * as layer from "./layer.js";
import * as overview from "./overview.js";
import * as predictions from "./predictions.js";
import * as similarity from "./similarity.js";
import { readPacked } from "./state.js";
import * as step from "./step.js";
import { makeStore } from "./store.js";
import { followTheme } from "./theme.js";
import * as tour from "./tour.js";

const SHEET = "700px"; // A4 or Letter, upright
const PARTS = { head, overview, predictions, changes, difference, layer, step, similarity, cache };

async function start() {
  const root = document.getElementById("explorer");
  const { explorer: key, host } = document.body.dataset;
  const packed = [...document.querySelectorAll("script.state")];
  const store = makeStore([await readPacked(packed[0].textContent)]);
  performance.mark("explorer-read");
  let mounted = false;
  followTheme(() => mounted && store.change({}));
  root.textContent = "";
  announcing.mount(root, store);
  for (const [name, part] of Object.entries(PARTS)) {
    const section = document.createElement("section");
    section.id = name;
    root.append(section);
    part.mount(section, store);
  }
  tour.mount(root.querySelector(".guide"), store);
  mounted = true;
  // A sheet is narrower than most windows, and a drawing keeps its width: so it is drawn anew, for the sheet.
  for (const [event, width] of [["beforeprint", SHEET], ["afterprint", ""]])
    addEventListener(event, () => {
      root.style.width = width;
      store.change({});
    });
  performance.mark("explorer-drawn");
  tellHeight(key);
  connect(store, key, host);
  for (const other of packed.slice(1)) store.keep(await readPacked(other.textContent), Infinity);
}

start().catch((problem) => {
  const text = typeof DecompressionStream === "undefined" ? "This browser is too old for the picture: it needs one of 2023 or later." : `The picture could not be drawn: ${problem.message}`;
  document.getElementById("explorer").textContent = text;
  throw problem;
});
