// One matrix as a picture: cells, labels, exact numbers where there is room.

import { inkOn } from "./color.js";
import { animate, bytesOf, el, fit, ink, paint, partsOf } from "./draw.js";
import { visible } from "./state.js";

const NUMBERS = 400; // cells of a picture that has its numbers written in
const FONT = "12px";

const cellNumber = (value) => {
  if (value === -Infinity) return "−∞";
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
  return Number(text) === 0 ? "0.00" : text.replace("-", "−");
};

const OPERAND = { left: 92, top: 72, gap: 12 }; // room for what is multiplied

const longest = (names) => Math.max(1, ...names.map((name) => visible(name).length));

/** Where cells and labels of a matrix stand in a width; `factors`: with room for the two matrices that are multiplied. */
export function grid(matrix, rowLabels, columnLabels, width, namedColumns, factors = false) {
  const before = factors ? OPERAND.left + OPERAND.gap : 0;
  const above = factors ? OPERAND.top + OPERAND.gap : 0;
  const left = Math.min(110, 14 + 7.4 * longest(rowLabels)) + before;
  const square = namedColumns && matrix.columns <= 80;
  const room = width - left - 2;
  const wide = square ? Math.max(9, Math.min(48, room / matrix.columns)) : Math.min(40, room / matrix.columns);
  const high = square ? Math.max(13, Math.min(34, wide, Math.max(18, 620 / matrix.rows))) : Math.max(13, Math.min(26, 420 / matrix.rows));
  const upright = square && wide < 8 * Math.min(6, longest(columnLabels)) + 4;
  const top = (upright ? Math.min(84, 10 + 7.4 * longest(columnLabels)) : 20) + above;
  return { left, top, before, above, wide, high, upright, square, width: left + wide * matrix.columns + 2, height: top + high * matrix.rows + 2 };
}

function drawLabels(context, { matrix, names, box, chosen }) {
  const { left, top, before, above, wide, high } = box;
  const [muted, accent, sans] = ["--muted", "--accent", "--sans"].map(ink);
  const plain = `${FONT} ${sans}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (let row = 0; row < matrix.rows; row += 1) {
    context.fillStyle = row === chosen ? accent : muted;
    context.font = row === chosen ? `600 ${plain}` : plain;
    context.fillText(visible(names.rows[row] ?? String(row)), left - before - 6, top + (row + 0.5) * high, left - before - 8);
  }
  context.fillStyle = muted;
  context.font = plain;
  if (!box.square) {
    context.textAlign = "left";
    context.fillText(`${names.axes[1] === "word" ? "words" : "columns"} 0 … ${matrix.columns - 1}`, left, top - above - 10);
    return;
  }
  for (let column = 0; column < matrix.columns; column += 1) {
    const text = visible(names.columns[column] ?? String(column));
    context.save();
    context.translate(left + (column + 0.5) * wide, top - above - 5);
    context.textAlign = box.upright ? "left" : "center";
    if (box.upright) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, box.upright ? 0 : -5, box.upright ? top - above - 8 : wide - 2);
    context.restore();
  }
}

function drawNumbers(context, { matrix, scale, box }) {
  const { left, top, wide, high } = box;
  const muted = ink("--muted");
  context.font = `${FONT} ${ink("--sans")}`;
  context.textAlign = "center";
  for (let row = 0; row < matrix.rows; row += 1) {
    for (let column = 0; column < matrix.columns; column += 1) {
      const value = matrix.data[row * matrix.columns + column];
      context.fillStyle = value === 0 ? muted : inkOn(partsOf(value, scale));
      context.fillText(cellNumber(value), left + (column + 0.5) * wide, top + (row + 0.5) * high + 0.5, wide - 2);
    }
  }
}

/** What is multiplied: the left factor beside the rows, the right one above the columns, and what a cell takes of them. */
function drawFactors(context, { matrix, box, factors }, cell) {
  const { left, top, wide, high } = box;
  const { beside, above, dim } = factors;
  const [x, y] = [left - OPERAND.gap - OPERAND.left, top - OPERAND.gap - OPERAND.top];
  context.globalAlpha = dim ? 0.3 : 1;
  paint(context, beside.image, x, top, OPERAND.left, high * matrix.rows);
  paint(context, above.image, left, y, wide * matrix.columns, OPERAND.top);
  context.strokeStyle = ink("--hairline");
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, top - 0.5, OPERAND.left + 1, high * matrix.rows + 1);
  context.strokeRect(left - 0.5, y - 0.5, wide * matrix.columns + 1, OPERAND.top + 1);
  context.fillStyle = ink("--muted");
  context.font = `italic 600 14px ${ink("--math")}`;
  context.textAlign = "center";
  context.fillText(beside.name, x + OPERAND.left / 2, top - 12);
  context.textAlign = "right";
  context.fillText(above.name, left - 8, y + OPERAND.top / 2);
  context.globalAlpha = 1;
  if (!cell || dim) return;
  context.strokeStyle = ink("--ink");
  context.lineWidth = 2;
  context.strokeRect(x, top + cell[0] * high, OPERAND.left, high);
  context.strokeRect(left + cell[1] * wide, y, wide, OPERAND.top);
}

/**
 * One matrix as a picture in which a cell can be pointed at, by pointer and by arrow keys: `{element, set, cell, draw}`.
 * `hear(cell, chosen)` gets `[row, column]`; `chosen` is true for a click. `set({matrix, scale, names: {axes, rows,
 * columns}, box, chosen, marked, factors, label}, moving)` draws: `box` is `grid(…)`, `chosen` a row or null, `marked` a cell
 * or null; `factors`, for which the box has room, `{beside: {name, image}, above: {name, image}, dim}`. With `moving` the
 * colors of an equally large picture before become these.
 */
export function picture(title, hear) {
  const canvas = el("canvas", { tabindex: "0", role: "img" });
  const element = el("figure", { class: "matrix" }, title ? el("figcaption", {}, title) : null, el("div", { class: "scroll" }, canvas));
  let now = null; // {matrix, scale, names, place}
  let image = null;
  let cell = null;
  let stop = () => {};

  function draw(part = 1) {
    const { matrix, box, chosen, marked, factors } = now;
    const context = fit(canvas, box.width, box.height);
    const { left, top, before, wide, high } = box;
    paint(context, part < 1 ? mixed(part) : image.after, left, top, wide * matrix.columns, high * matrix.rows);
    drawLabels(context, now);
    if (part === 1 && matrix.rows * matrix.columns <= NUMBERS && wide >= 33) drawNumbers(context, now);
    if (factors) drawFactors(context, now, cell);
    context.strokeStyle = ink("--hairline");
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, wide * matrix.columns + 1, high * matrix.rows + 1);
    if (chosen !== null && chosen < matrix.rows) {
      context.strokeStyle = ink("--accent");
      context.lineWidth = 1.5;
      context.strokeRect(left - before - 1, top + chosen * high - 0.5, wide * matrix.columns + before + 2, high + 1);
    }
    const outline = (row, column, color) => {
      context.strokeStyle = color;
      context.lineWidth = 2.5;
      const width = Math.max(wide, 5);
      context.strokeRect(left + (column + 0.5) * wide - width / 2, top + row * high, width, high);
    };
    if (marked) outline(marked[0], marked[1], ink("--warning"));
    if (cell) outline(cell[0], cell[1], ink("--ink"));
  }

  function mixed(part) {
    const { before, after } = image;
    const bytes = new Uint8ClampedArray(after.data.length);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = before.data[index] * (1 - part) + after.data[index] * part;
    return new ImageData(bytes, after.width, after.height);
  }

  function point(next) {
    cell = next;
    draw();
    hear(cell);
  }
  const cellAt = (event) => {
    const bounds = canvas.getBoundingClientRect();
    const { box, matrix } = now;
    const column = Math.floor((event.clientX - bounds.left - box.left) / box.wide);
    const row = Math.floor((event.clientY - bounds.top - box.top) / box.high);
    return row >= 0 && row < matrix.rows && column >= 0 && column < matrix.columns ? [row, column] : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const next = cellAt(event);
    if (next && String(next) !== String(cell)) point(next);
  });
  canvas.addEventListener("click", (event) => {
    const found = cellAt(event);
    if (found) hear(found, true);
  });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    const { matrix, chosen } = now;
    const [row, column] = cell ?? [chosen ?? 0, -1];
    point([Math.max(0, Math.min(matrix.rows - 1, row + move[0])), Math.max(0, Math.min(matrix.columns - 1, column + move[1]))]);
    event.preventDefault();
  });

  return {
    element,
    set(next, moving) {
      stop();
      const columns = Math.min(next.matrix.columns, Math.max(1, Math.floor(next.box.wide * next.matrix.columns * (window.devicePixelRatio || 1))));
      const after = bytesOf(next.matrix, next.scale, columns);
      const before = image?.after;
      const same = moving && before && before.width === after.width && before.height === after.height;
      if (!now || now.matrix.rows !== next.matrix.rows || now.matrix.columns !== next.matrix.columns) cell = null;
      now = next;
      image = { before, after };
      canvas.setAttribute("aria-label", next.label);
      if (same) stop = animate(500, draw);
      else draw();
    },
    cell: (value = cell) => (cell = value),
    draw,
  };
}
