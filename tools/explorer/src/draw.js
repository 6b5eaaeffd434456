// Small tools for drawing: elements, canvases, matrices as pictures.

import { shareParts, signedParts } from "./color.js";

/** An element with attributes (functions become listeners) and children; null and false children are left out. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A variable of the style sheet, as the theme has it now. */
export const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Gives a canvas a size in CSS pixels, sharp on any screen, and its context in these pixels, cleared. */
export function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const SHARES = new Set(["weights", "probabilities"]);
const WHOLE = new Set(["scores", "scaled", "masked", "logits"]); // their largest number is of interest
const SAMPLE = 4096; // numbers that are looked at for a scale
const WITHIN = 0.99; // the part of a vector's numbers that the scale tells apart

/**
 * The scale of a step's numbers: `{type, most, beyond}`. Shares run from 0 to 1, cosines from −1 to 1, all else from −most to
 * most. Single numbers of a vector may be a hundred times larger than all others: `beyond` says that there are such, which
 * get the last color.
 */
export function scaleFor(kind, ...matrices) {
  if (SHARES.has(kind)) return { type: "share", most: 1, beyond: false };
  if (kind === "similarity") return { type: "signed", most: 1, beyond: false };
  const sizes = [];
  let largest = 0;
  for (const matrix of matrices) {
    const data = matrix?.data ?? [];
    const stride = Math.max(1, Math.floor(data.length / SAMPLE)) | 1;
    for (let index = 0; index < data.length; index += 1) {
      const size = Math.abs(data[index]);
      if (!Number.isFinite(size)) continue;
      if (size > largest) largest = size;
      if (index % stride === 0) sizes.push(size);
    }
  }
  const usual = Float32Array.from(sizes).sort()[Math.floor((sizes.length - 1) * WITHIN)];
  const beyond = !WHOLE.has(kind) && usual > 0 && largest > 1.5 * usual;
  return { type: "signed", most: (beyond ? usual : largest) || 1, beyond };
}

const HIDDEN = { light: [224, 228, 233], dark: [44, 54, 64] };

/** Red, green and blue of one value; −∞ has a color of its own. */
export function partsOf(value, scale) {
  if (!Number.isFinite(value)) return HIDDEN[document.documentElement.dataset.theme ?? "light"];
  return scale.type === "share" ? shareParts(value / scale.most) : signedParts(value / scale.most);
}

/** One pixel for each number, in bytes; of more than `columns` columns every so many-th is drawn. */
export function bytesOf(matrix, scale, columns = matrix.columns) {
  const bytes = new Uint8ClampedArray(matrix.rows * columns * 4);
  const apart = matrix.columns / columns;
  for (let row = 0; row < matrix.rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const value = matrix.data[row * matrix.columns + Math.floor((column + 0.5) * apart)];
      const [r, g, b] = partsOf(value, scale);
      const at = (row * columns + column) * 4;
      bytes[at] = r;
      bytes[at + 1] = g;
      bytes[at + 2] = b;
      bytes[at + 3] = 255;
    }
  }
  return new ImageData(bytes, columns, matrix.rows);
}

const canvases = new WeakMap(); // of images that have been drawn

/** Draws an image with sharp cells into a rectangle; `row` alone, if it is given. */
export function paint(context, image, x, y, width, height, row = null) {
  let between = canvases.get(image);
  if (!between) {
    between = document.createElement("canvas");
    between.width = image.width;
    between.height = image.height;
    between.getContext("2d").putImageData(image, 0, 0);
    canvases.set(image, between);
  }
  context.imageSmoothingEnabled = false;
  if (row === null) context.drawImage(between, x, y, width, height);
  else context.drawImage(between, 0, row, image.width, 1, x, y, width, height);
}

/** Marks what scrolls sideways as long as it goes on at the right, for its style to show: most phones hide scroll bars. */
export function showThatItGoesOn(element) {
  const mark = () => element.classList.toggle("goes-on", element.scrollLeft + element.clientWidth < element.scrollWidth - 2);
  const sizes = new ResizeObserver(mark);
  for (const each of [element, ...element.children]) sizes.observe(each);
  element.addEventListener("scroll", mark, { passive: true });
}

/** Scrolls a part of the page into view where somebody has asked to look at it: `change({look: name})`. */
export function lookAt(element, store, name) {
  if (store.look !== name || element.hidden) return;
  store.look = null;
  requestAnimationFrame(() => element.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" }));
}

/** Calls `frame(part)` with 0…1 until `milliseconds` are over; at once with 1 where motion is not wanted. */
export function animate(milliseconds, frame) {
  if (still() || document.hidden) {
    frame(1);
    return () => {};
  }
  const begin = performance.now();
  let handle = 0;
  const next = (now) => {
    const part = Math.min(1, Math.max(0, (now - begin) / milliseconds));
    frame(1 - (1 - part) ** 3);
    if (part < 1) handle = requestAnimationFrame(next);
  };
  next(begin);
  return () => cancelAnimationFrame(handle);
}

/** A button that plays: `step()` each `milliseconds` until it gives false, the button is pressed again, or Escape anywhere. */
export function player(label, milliseconds, step, attributes = {}) {
  let timer = null;
  const button = el("button", { type: "button", class: "play", "aria-pressed": "false", click: () => (timer ? stop() : begin()), ...attributes });
  const show = () => {
    button.textContent = timer ? "❚❚ Stop" : `▶ ${label}`;
    button.setAttribute("aria-pressed", String(Boolean(timer)));
  };
  function stop() {
    clearInterval(timer);
    timer = null;
    document.removeEventListener("keydown", escape);
    show();
  }
  const escape = ({ key }) => key === "Escape" && stop();
  function begin() {
    document.addEventListener("keydown", escape);
    timer = setInterval(() => step(false) === false && stop(), milliseconds);
    show();
    if (step(true) === false) stop();
  }
  show();
  return { button, stop };
}
