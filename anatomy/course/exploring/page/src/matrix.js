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

/** Where cells and labels of a matrix stand in a width. */
export function grid(matrix, rowLabels, columnLabels, width, namedColumns) {
  const longest = (names) => Math.max(1, ...names.map((name) => visible(name).length));
  const left = Math.min(110, 14 + 7.4 * longest(rowLabels));
  const square = namedColumns && matrix.columns <= 80;
  const room = width - left - 2;
  const wide = square ? Math.max(9, Math.min(48, room / matrix.columns)) : Math.min(40, room / matrix.columns);
  const high = square ? Math.max(13, Math.min(34, wide)) : Math.max(13, Math.min(26, 420 / matrix.rows));
  const upright = square && wide < 8 * Math.min(6, longest(columnLabels)) + 4;
  const top = square ? (upright ? Math.min(84, 10 + 7.4 * longest(columnLabels)) : 20) : 20;
  return { left, top, wide, high, upright, square, width: left + wide * matrix.columns + 2, height: top + high * matrix.rows + 2 };
}

/**
 * One matrix as a picture in which a cell can be pointed at, by pointer and by arrow keys: `{element, set, cell, draw}`.
 * `hear(cell, chosen)` gets `[row, column]`; `chosen` is true for a click. `set({matrix, scale, names: {axes, rows,
 * columns}, box, chosen, marked, label}, moving)` draws: `box` is `grid(…)`, `chosen` a row or null, `marked` a cell or null;
 * with `moving` the colors of an equally large picture before become these.
 */
export function picture(title, hear) {
  const canvas = el("canvas", { tabindex: "0", role: "img" });
  const element = el("figure", { class: "matrix" }, title ? el("figcaption", {}, title) : null, el("div", { class: "scroll" }, canvas));
  let now = null; // {matrix, scale, names, place}
  let image = null;
  let cell = null;
  let stop = () => {};

  function draw(part = 1) {
    const { matrix, scale, names, box, chosen, marked } = now;
    const context = fit(canvas, box.width, box.height);
    const { left, top, wide, high } = box;
    paint(context, part < 1 ? mixed(part) : image.after, left, top, wide * matrix.columns, high * matrix.rows);
    context.font = `${FONT} ${ink("--sans")}`;
    context.textBaseline = "middle";
    context.fillStyle = ink("--muted");
    context.textAlign = "right";
    for (let row = 0; row < matrix.rows; row += 1) {
      const mine = row === chosen;
      context.fillStyle = mine ? ink("--accent") : ink("--muted");
      context.font = `${mine ? "600 " : ""}${FONT} ${ink("--sans")}`;
      context.fillText(visible(names.rows[row] ?? String(row)), left - 6, top + (row + 0.5) * high, left - 8);
    }
    context.fillStyle = ink("--muted");
    context.font = `${FONT} ${ink("--sans")}`;
    if (box.square) {
      for (let column = 0; column < matrix.columns; column += 1) {
        const text = visible(names.columns[column] ?? String(column));
        const x = left + (column + 0.5) * wide;
        context.save();
        context.translate(x, top - 5);
        if (box.upright) {
          context.rotate(-Math.PI / 2);
          context.textAlign = "left";
          context.fillText(text, 0, 0, top - 8);
        } else {
          context.textAlign = "center";
          context.fillText(text, 0, -5);
        }
        context.restore();
      }
    } else {
      context.textAlign = "left";
      context.fillText(`${names.axes[1] === "word" ? "words" : "columns"} 0 … ${matrix.columns - 1}`, left, top - 10);
    }
    if (part === 1 && matrix.rows * matrix.columns <= NUMBERS && wide >= 33) {
      context.textAlign = "center";
      for (let row = 0; row < matrix.rows; row += 1) {
        for (let column = 0; column < matrix.columns; column += 1) {
          const value = matrix.data[row * matrix.columns + column];
          context.fillStyle = value === 0 ? ink("--muted") : inkOn(partsOf(value, scale));
          context.fillText(cellNumber(value), left + (column + 0.5) * wide, top + (row + 0.5) * high + 0.5, wide - 2);
        }
      }
    }
    context.strokeStyle = ink("--hairline");
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, wide * matrix.columns + 1, high * matrix.rows + 1);
    if (chosen !== null && chosen < matrix.rows) {
      context.strokeStyle = ink("--accent");
      context.lineWidth = 1.5;
      context.strokeRect(left - 1, top + chosen * high - 0.5, wide * matrix.columns + 2, high + 1);
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
