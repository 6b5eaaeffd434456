/* The way to the page's only live region: any part of the page may say a sentence there. */

const PAUSE = 400; // milliseconds in which a later sentence takes the place of an earlier one

let write = () => {};
let timer = 0;
let last = "";

/** Where sentences are written. */
export function writeTo(region) {
  write = region;
  last = "";
}

/** Says a sentence after a short pause, unless another one comes first. What was said last is not said again. */
export function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (text !== last) write(text);
    last = text;
  }, PAUSE);
}

/** Gives an element a text; one that has it already is not touched. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
