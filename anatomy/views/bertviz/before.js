// BertViz asks require.js for its libraries by name; here they are in the frame already.
window.requirejs = (names, run) => run(...names.map((name) => ({ jquery: window.jQuery, d3: window.d3 })[name]));
window.require = window.requirejs;
window.require.config = () => {};
