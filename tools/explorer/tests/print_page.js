// Prints pages of made-up models, as JSON: `node print_page.js '[{"kind": "decoder"}, …]'`. A page has one state; with
// `goesOn` it also has that of its text and the most probable next token.

import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";

import { chances } from "../src/chances.js";
import { array, pack } from "../src/state.js";
import { madeUp } from "./made_up.js";

const file = (name) => readFileSync(new URL(`../../../anatomy/course/exploring/page/${name}`, import.meta.url), "utf8");

function page(states) {
  const packed = states.map(({ header, buffer }) => deflateSync(Buffer.from(pack({ header, buffer }))).toString("base64"));
  const values = { TITLE: "Made up", STYLE: file("explorer.css"), SCRIPT: file("explorer.js"), NOTICES: "", KEY: "key", HOST: "none", NOTEBOOKS: "",
    STATES: packed.map((text) => `<script type="text/plain" class="state">${text}</script>`).join("\n") };
  return file("page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

const made = JSON.parse(process.argv[2]).map(({ goesOn = false, ...options }) => {
  const states = [madeUp(options)];
  if (goesOn) {
    const { word } = chances(states[0], options.text.length - 1, { temperature: 0 }).words[0];
    states.push(madeUp({ ...options, text: options.text + word }));
  }
  const weights = [...states[0].steps.values()].filter(({ step }) => step.kind === "weights")
    .map(({ step }) => [step.id, array(states[0], step.array).shape, [...array(states[0], step.array).data]]);
  return { page: page(states), tokens: states[0].header.stacks.at(-1).tokens, weights };
});
console.log(JSON.stringify(made));
