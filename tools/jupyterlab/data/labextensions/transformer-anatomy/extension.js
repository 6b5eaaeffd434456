// What the course adds to JupyterLab, as a module that JupyterLab 4 loads as it stands: nothing is compiled or bundled.
// All parts leave notebooks alone that are not of the course. Where they fail, the rest of JupyterLab goes on.
(() => {
  const NAME = "transformer-anatomy";
  const MARK = "transformer_anatomy"; // in the metadata of the course's notebooks
  const WIDE = 1400; // pixels, from which on there is room for the list beside the notebook
  const NARROW = 1000; // pixels, below which it would leave no room for the notebook

  const isOfTheCourse = (model) => model?.getMetadata(MARK) !== undefined;

  // ---- the exercises of a notebook -------------------------------------------------------------------------------

  const SIGNS = { right: "✓", "not right yet": "✗", stopped: "!", "not checked": "?", open: "○" };

  const STYLE = `
    .anatomy-exercises { background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); overflow-y: auto;
      padding: 10px 8px; font-size: var(--jp-ui-font-size1); line-height: 1.4; }
    .anatomy-exercises h2 { font-size: inherit; margin: 0 4px; }
    .anatomy-exercises p { margin: 2px 4px 8px; }
    .anatomy-exercises ul { list-style: none; margin: 0; padding: 0; }
    .anatomy-exercises button { display: flex; gap: 8px; width: 100%; padding: 5px 4px; border: 0; text-align: left;
      background: none; color: inherit; font: inherit; cursor: pointer; }
    .anatomy-exercises button:hover { background: var(--jp-layout-color2); }
    .anatomy-exercises button:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -2px; }
    .anatomy-exercises .sign { flex: none; width: 1.5em; height: 1.5em; line-height: 1.5em; text-align: center;
      color: #fff; font-weight: 700; }
    .anatomy-exercises [data-state="right"] .sign { background: #1a7f37; }
    .anatomy-exercises :is([data-state="not right yet"], [data-state="stopped"]) .sign { background: #c4320a; }
    .anatomy-exercises [data-state="not checked"] .sign { background: #8a5a00; }
    .anatomy-exercises [data-state="open"] .sign { background: #6e7781; }
    .anatomy-exercises .number { flex: none; min-width: 2em; }
    .anatomy-exercises .name { overflow-wrap: anywhere; }`;

  const ROW = '<li><button><span class="sign"></span><span class="number"></span><span class="name"></span></button></li>';

  const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">
    <path d="M4.5 8.6 1.8 5.9 3.2 4.5 4.5 5.8 7.8 2.5 9.2 3.9zM11 5h11v2H11zM4.5 15.6l-2.7-2.7 1.4-1.4 1.3 1.3 3.3-3.3
    1.4 1.4zM11 12h11v2H11zM3 17h5v5H3zM11 19h11v2H11z"/></g></svg>`;

  // What the outputs of a check say: the exercise is stopped where its own cell did not get to its end, and not checked
  // where the check didn't. Where no card came of it, the exercise is open.
  function stateOf(outputs) {
    const texts = outputs.map((output) => [output.data?.["text/plain"] ?? ""].flat().join(""));
    const error = outputs.find((output) => output.output_type === "error");
    if (texts.some((text) => text.startsWith("Right:"))) return "right";
    if (texts.some((text) => /^The cell of `\w+` stopped /.test(text))) return "stopped";
    if (!error) return "open";
    if (error.ename !== "CheckFailed") return "not checked";
    return error.evalue.endsWith("not attempted yet.") ? "open" : "not right yet";
  }

  // The answers that a check has found right: notebook → exercise → the text of its cell.
  const found = new WeakMap();

  // The state of an exercise. "Run All" empties the outputs of all cells and stops at the first exercise that is open: an
  // answer below it stays right as long as its text is the same.
  function stateWithAnswer(model, name, answer, outputs) {
    if (!found.has(model)) found.set(model, new Map());
    const right = found.get(model);
    if (!outputs.length && right.get(name) === answer) return "right";
    const state = stateOf(outputs);
    if (state !== "right") right.delete(name);
    else if (!right.has(name)) right.set(name, answer);
    return state;
  }

  // The exercises of a notebook in its order: the number that its text gives them, and the place of the answer cell.
  function exercisesIn(model) {
    if (!isOfTheCourse(model)) return [];
    const cells = [...model.cells].map((cell, index) => ({ cell, index, marks: cell.getMetadata("nbgrader") ?? {} }));
    const prose = cells.filter(({ cell }) => cell.type === "markdown").map(({ cell }) => cell.sharedModel.getSource());
    const numbers = [...prose.join("\n").matchAll(/Exercise (\d+\.\d+) · `(\w+)`/g)];
    return cells.filter(({ marks }) => marks.solution).flatMap(({ cell, index, marks }) => {
      const name = marks.grade_id;
      const check = cells.find(({ marks }) => marks.grade && marks.grade_id === `check-${name}`);
      const number = numbers.find((found) => found[2] === name)?.[1] ?? "";
      if (!check) return [];
      const outputs = check.cell.sharedModel.getOutputs();
      return [{ index, number, name, state: stateWithAnswer(model, name, cell.sharedModel.getSource(), outputs) }];
    });
  }

  function panelClass(Widget) {
    return class extends Widget {
      constructor(shell) {
        super();
        this.shell = shell;
        this.notebook = null;
        this.addClass("anatomy-exercises");
        this.node.innerHTML = `<style>${STYLE}</style><h2>Exercises</h2><p></p><ul></ul>`;
      }

      // Show the exercises of this notebook from now on; of none, where it is null.
      follow(notebook) {
        if (this.notebook && !this.notebook.isDisposed) {
          this.notebook.content.modelContentChanged.disconnect(this.update, this);
        }
        this.notebook = notebook;
        notebook?.content.modelContentChanged.connect(this.update, this);
        notebook?.context.ready.then(() => this.update());
        this.update();
      }

      // Rows are changed in place, so that a focused one keeps the focus.
      onUpdateRequest() {
        const exercises = exercisesIn(this.notebook?.model);
        const right = exercises.filter(({ state }) => state === "right").length;
        const [count, list] = [this.node.querySelector("p"), this.node.querySelector("ul")];
        count.textContent = exercises.length ? `${right} of ${exercises.length} right` : "None in what is open.";
        while (list.children.length > exercises.length) list.lastChild.remove();
        exercises.forEach(({ index, number, name, state }, row) => {
          if (!list.children[row]) list.insertAdjacentHTML("beforeend", ROW);
          const button = list.children[row].firstChild;
          const texts = [SIGNS[state], number, name.replaceAll("_", "_\u200b")]; // where a long name may be broken
          texts.forEach((text, column) => (button.children[column].textContent = text));
          button.dataset.state = state;
          button.ariaLabel = button.title = `${number} ${name}: ${state}`;
          button.onclick = () => this.go(index);
        });
        if (exercises.length && this.opensItself) {
          this.opensItself = false;
          this.shell.activateById(this.id);
        }
      }

      async go(index) {
        const { content, id } = this.notebook;
        content.mode = "command";
        content.deselectAll();
        content.activeCellIndex = index;
        await content.scrollToItem(index, "start");
        this.shell.activateById(id);
      }
    };
  }

  const exercises = (tracker, restorer, { Widget }, { LabIcon }) => ({
    id: `${NAME}:exercises`,
    autoStart: true,
    requires: [tracker],
    optional: [restorer],
    activate: (app, notebooks, layout) => {
      const panel = new (panelClass(Widget))(app.shell);
      panel.id = `${NAME}-exercises`;
      panel.title.caption = "Exercises";
      panel.title.icon = new LabIcon({ name: `${NAME}:exercises`, svgstr: ICON });
      app.shell.add(panel, "right", { rank: 50 });
      layout?.add(panel, panel.id);
      notebooks.currentChanged.connect((_, notebook) => panel.follow(notebook));
      panel.follow(notebooks.currentWidget);
      // Once, where nobody has arranged JupyterLab yet; later it is as it was left.
      app.restored.then(() => app.shell.restored).then((arranged) => {
        panel.opensItself = Boolean(arranged?.fresh) && window.innerWidth >= WIDE;
        if (arranged?.fresh && narrow.matches) app.shell.collapseLeft(); // the files, beside which pictures scroll
        panel.update();
        fold(narrow);
      });
      // What was arranged on a wide screen comes back on a narrow one, too. Who opens the list there keeps it.
      const narrow = window.matchMedia(`(width < ${NARROW}px)`);
      const fold = ({ matches }) => matches && panel.isVisible && app.shell.collapseRight();
      narrow.addEventListener("change", fold);
    },
  });

  // ---- opening changes nothing -----------------------------------------------------------------------------------

  // When a kernel has started, JupyterLab writes its version of Python into the notebook, and calls that a change: it
  // asks to save on closing. Which version a machine has is nobody's work. It is saved with the first change that is.
  const opening = (tracker) => ({
    id: `${NAME}:opening`,
    autoStart: true,
    requires: [tracker],
    activate: (app, notebooks) => {
      notebooks.widgetAdded.connect((_, { context: { model } }) => {
        model.metadataChanged.connect((_, { key }) => {
          if (key === "language_info" && !model.dirty && isOfTheCourse(model)) {
            queueMicrotask(() => (model.dirty = false)); // JupyterLab sets it right after this signal
          }
        });
      });
    },
  });

  // ---- pictures follow the theme ---------------------------------------------------------------------------------

  // JupyterLab drops the styles in outputs of a notebook that is not trusted, as a solved one isn't when it comes.
  // This is the rule that the pictures bring themselves (THEMES in anatomy/course/views/style.py).
  const DARK = "body[data-jp-theme-light=false] .anatomy-themed{filter:invert(0.933) hue-rotate(180deg)}";
  const pictures = {
    id: `${NAME}:pictures`,
    autoStart: true,
    activate: () => document.head.insertAdjacentHTML("beforeend", `<style>${DARK}</style>`),
  };

  // ---- what is wider than its cell -------------------------------------------------------------------------------

  // Between two side bars, or on a small screen, code and formulas are cut, and many systems hide scroll bars. So code
  // wraps: no line of it begins at 6 letters, as the rest of a wrapped one does. What is printed wraps between words,
  // not inside of them. A formula scrolls by itself, and what goes on fades out at the right: over the cell's own
  // padding, where nothing does.
  const FADES = "mask-image: linear-gradient(to left, transparent, #000 20px)";
  const CELLS = `
    .anatomy-notebook .jp-CodeCell .cm-content { white-space: break-spaces; overflow-wrap: anywhere; flex-shrink: 1; }
    .anatomy-notebook .jp-CodeCell .cm-line { padding-left: calc(6px + 6ch); text-indent: -6ch; }
    .anatomy-notebook .jp-OutputArea-output.jp-RenderedText pre { word-break: normal; overflow-wrap: anywhere; }
    .anatomy-notebook .jp-RenderedMarkdown { ${FADES}; }
    .anatomy-notebook mjx-container[display="true"] { ${FADES}; overflow: auto hidden; padding: 4px 20px; }`;

  // In a table no shape is broken, such as (B, T, D): other words of its column make room.
  const SHAPE = /\((?:[A-Z0-9…][^\s(),]*, )+[A-Z0-9…][^\s(),]*\)/g;
  function keepShapes(cell) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const [{ data }, whole] = [texts.currentNode, (shape) => shape.replaceAll(" ", "\u00a0")];
      if (data.includes("(")) texts.currentNode.data = data.replace(SHAPE, whole);
    }
  }
  const tables = new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
      if (node instanceof Element) node.querySelectorAll("td").forEach(keepShapes);
    }
  });

  const wide = (tracker) => ({
    id: `${NAME}:wide`,
    autoStart: true,
    requires: [tracker],
    activate: (app, notebooks) => {
      document.head.insertAdjacentHTML("beforeend", `<style>${CELLS}</style>`);
      notebooks.widgetAdded.connect((_, { content, context }) => {
        context.ready.then(() => {
          content.toggleClass("anatomy-notebook", isOfTheCourse(context.model));
          if (isOfTheCourse(context.model)) tables.observe(content.node, { childList: true, subtree: true });
        });
      });
    },
  });

  // ---- a name that is not defined --------------------------------------------------------------------------------

  // Who comes back after a restart runs the cell that is next, and Python says that a name is not defined. Where a cell
  // above sets this name, a line below the error offers to run the cells above. Their checks are left out: JupyterLab's
  // own "Run All Above" stops at the first exercise that is open. In a quiz, such a name is an answer without quotation
  // marks.
  const HINT = `.jp-OutputArea .anatomy-above { margin: 4px 0 4px var(--jp-cell-prompt-width); padding: 4px 8px;
      border-left: 5px solid #9a6700; }
    .anatomy-above button { margin-left: 6px; padding: 2px 8px; border: 1px solid var(--jp-border-color1); font: inherit;
      background: var(--jp-layout-color2); color: inherit; cursor: pointer; }`;

  // The names that a cell's own lines set, not those inside of functions.
  function namesSet(source) {
    const code = source.replace(/#.*$/gm, "");
    const listed = ([, list]) => list.replace(/[()]/g, "").split(",").map((name) => name.trim());
    const names = (pattern) => [...code.matchAll(pattern)].flatMap(listed);
    return new Set([
      ...names(/^(?:from\s+\S+\s+)?import\s+(\([^)]*\)|.*)/gm).map((name) => name.split(/\sas\s/).pop().split(".")[0]),
      ...names(/^(?:def|class)\s+(\w+)/gm),
      ...names(/^(\w[\w, ]*?)\s*(?::[^=\n]+)?=(?!=)/gm),
    ]);
  }

  // The number of the first line of a quiz that ends without a comma, though another answer follows; 0 where none does.
  function withoutComma(source) {
    const lines = source.replace(/#.*$/gm, "").split("\n");
    return 1 + lines.findIndex((line, place) => /["']\s*$/.test(line) && /^\s*["'][^"']*["']\s*:/.test(lines[place + 1] ?? ""));
  }

  const above = (tracker, { NotebookActions }) => ({
    id: `${NAME}:above`,
    autoStart: true,
    requires: [tracker],
    activate: (app, notebooks) => {
      document.head.insertAdjacentHTML("beforeend", `<style>${HINT}</style>`);
      NotebookActions.executionScheduled.connect((_, { cell }) => cell.node.querySelector(".anatomy-above")?.remove());
      NotebookActions.executed.connect((_, { notebook, cell, error }) => {
        const name = error?.errorName === "NameError" && /^name '(\w+)' is not defined/.exec(error.errorValue)?.[1];
        if (!(name || error?.errorName === "SyntaxError") || !isOfTheCourse(notebook.model)) return;
        const marks = ({ model }) => model.getMetadata("nbgrader") ?? {};
        const [hint, code] = ["div", "code"].map((tag) => document.createElement(tag));
        const before = notebook.widgets.slice(0, notebook.widgets.indexOf(cell)).filter(({ model }) => model.type === "code");
        const isQuiz = marks(cell).solution && marks(cell).grade_id.startsWith("quiz_");
        const ended = isQuiz && !name ? withoutComma(cell.model.sharedModel.getSource()) : 0;
        if (ended) hint.append(`A comma is missing at the end of line ${ended}.`);
        else if (!name) return;
        else if (isQuiz) {
          code.textContent = `"${name}"`;
          hint.append("An answer of a quiz stands in quotation marks: ", code);
        } else if (before.some(({ model }) => namesSet(model.sharedModel.getSource()).has(name))) {
          code.textContent = name;
          const button = document.createElement("button");
          button.textContent = "Run the cells above, then this one";
          button.title = "Checks are left out: what they said stays.";
          button.onclick = () => {
            const { sessionContext } = notebooks.find(({ content }) => content === notebook);
            NotebookActions.runCells(notebook, [...before.filter((one) => !marks(one).grade), cell], sessionContext);
          };
          hint.append(code, " comes from a cell above.", button);
        } else return;
        hint.className = "anatomy-above";
        hint.role = "status";
        cell.outputArea.node.append(hint);
      });
    },
  });

  // ---- what JupyterLab asks for ----------------------------------------------------------------------------------

  let shared;
  const library = async (name) => (await Object.values(shared[name])[0].get())();

  globalThis._JUPYTERLAB ??= {};
  globalThis._JUPYTERLAB[NAME] = {
    init: (scope) => void (shared = scope),
    get: async () => {
      const [notebook, { ILayoutRestorer }, widgets, components] = await Promise.all(
        ["@jupyterlab/notebook", "@jupyterlab/application", "@lumino/widgets", "@jupyterlab/ui-components"].map(library),
      );
      const { INotebookTracker: tracker } = notebook;
      const list = exercises(tracker, ILayoutRestorer, widgets, components);
      const parts = [list, opening(tracker), wide(tracker), above(tracker, notebook), pictures];
      return () => ({ __esModule: true, default: parts });
    },
  };
})();
