// The link to whoever computes: the widget around this frame, a server on this machine, or nobody.

import { makeState, unpack } from "./state.js";

const PATIENCE = 60_000; // a model on a busy machine

/** Messages to the window around this one. `hear(message)` gets what comes back with this page's key. */
function windowLink(key, hear) {
  window.addEventListener("message", (event) => {
    if (event.source === window.parent && event.data?.explorer === key) hear(event.data);
  });
  return (message) => window.parent.postMessage({ explorer: key, ...message }, "*");
}

/** The same messages, one at a time, to the server that gave this page. */
function serverLink(key, hear) {
  return async (message) => {
    try {
      const answer = await fetch("run", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ explorer: key, ...message }),
      });
      const packed = answer.headers.get("Content-Type")?.startsWith("application/octet-stream");
      hear(packed ? unpack(await answer.arrayBuffer()) : await answer.json());
    } catch (error) {
      const text = "The server does not answer. Start anatomy explore again, and reload this page.";
      hear({ type: "problem", number: message.number, message: text, cause: error });
    }
  };
}

/**
 * Says hello, and gives the store a host as soon as somebody answers: `{changes, run}`, where `run({text, written,
 * changes})` gives a promise of the new state's index, and fails with a sentence that says what to do.
 */
export function connect(store, key, kind) {
  const waiting = new Map();
  let number = 0;

  function hear(message) {
    if (message.type === "welcome") {
      store.change({ host: { changes: message.changes, examples: message.examples ?? [], run } });
      return;
    }
    const asked = waiting.get(message.number);
    if (!asked) return;
    waiting.delete(message.number);
    clearTimeout(asked.late);
    if (message.type === "state") asked.resolve(store.keep(makeState(message.header, message.buffer)));
    else asked.reject(new Error(message.message));
  }

  function run({ text, written = null, changes = [] }) {
    number += 1;
    const mine = number;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.delete(mine);
        reject(new Error("No answer for a minute. Run the cell again."));
      }, PATIENCE);
      waiting.set(mine, { resolve, reject, late });
      tell({ type: "run", number: mine, text, written, changes });
    });
  }

  const link = kind === "server" ? serverLink : windowLink;
  const tell = kind === "server" || window.parent !== window ? link(key, hear) : null;
  tell?.({ type: "hello" });
}

/** Tells the frame around this page how high it is, now and whenever that changes. */
export function tellHeight(key) {
  if (window.parent === window) return;
  let last = 0;
  const tell = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    try {
      window.frameElement.style.height = `${height}px`;
    } catch {
      window.parent.postMessage({ explorer: key, type: "height", height }, "*"); // another origin
    }
  };
  new ResizeObserver(tell).observe(document.documentElement);
  tell();
}
