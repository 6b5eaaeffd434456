// The course's color scales. A theme of its own for dark pages: there the least is dark, and the most is bright.

import { rgb } from "d3-color";
import { interpolateRgb, piecewise } from "d3-interpolate";

const SHARE = {
  light: ["#ffffff", "#a9d3ee", "#2f8fcb", "#00507f", "#002a45"],
  dark: ["#1b232c", "#0b4a73", "#2f8fcb", "#a9d3ee", "#f3faff"],
};
const SIGNED = {
  light: ["#6b2c00", "#d55e00", "#f6bd92", "#ffffff", "#a9d3ee", "#0072b2", "#002f4d"],
  dark: ["#ffe1c7", "#f0883a", "#8a4310", "#1b232c", "#0f5687", "#4aa6e0", "#d9efff"],
};
const STEPS = 256;

let theme = "light";
const tables = {};

function tableOf(name, scale) {
  const key = `${name}-${theme}`;
  tables[key] ??= Array.from({ length: STEPS }, (_, index) => {
    const { r, g, b } = rgb(piecewise(interpolateRgb, scale[theme])(index / (STEPS - 1)));
    return [r, g, b].map(Math.round);
  });
  return tables[key];
}

const position = (part) => Math.round(Math.max(0, Math.min(1, part)) * (STEPS - 1));

/** The theme in which colors are given: "light" or "dark". */
export const currentTheme = () => theme;

export function setColorTheme(name) {
  theme = name;
}

/** Red, green and blue of a share 0…1. */
export const shareParts = (x) => tableOf("share", SHARE)[position(x)];

/** Red, green and blue of a value −1…1. */
export const signedParts = (x) => tableOf("signed", SIGNED)[position((x + 1) / 2)];

/** The CSS color of a share 0…1: attention weights, probabilities. */
export const share = (x) => `rgb(${shareParts(x).join(",")})`;

/** The CSS color of a signed value −1…1. */
export const signed = (x) => `rgb(${signedParts(x).join(",")})`;

/** The color of text on a color: black or white, whichever contrasts more (the luminance of WCAG 2). */
export function inkOn(parts) {
  const [r, g, b] = parts.map((part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}
