// The link between a page in a frame and a running kernel. The frame knows the key; nothing else is passed on.
// A saved notebook keeps this line without a kernel: it says "Live" only after the kernel has answered.
export default {
  render({ model, el }) {
    const key = model.get("key");
    const line = document.createElement("div");
    line.setAttribute("role", "status");
    line.style.cssText = "font:12px/1.5 system-ui,sans-serif;opacity:.75";
    line.textContent = "○ Recorded. Run the cell again to change something.";
    el.append(line);
    const asked = new Map(); // number of a run → who asked
    let welcome = null; // what the kernel said to our hello
    const say = (window, message) => window?.postMessage({ explorer: key, ...message }, "*");
    const frames = () => [...document.querySelectorAll("iframe.anatomy-explorer")];
    const frameOf = (window) => frames().find((frame) => frame.contentWindow === window);

    const hear = (event) => {
      const message = event.data;
      const frame = message?.explorer === key && frameOf(event.source);
      if (!frame) return;
      if (message.type === "hello" && welcome) say(event.source, welcome);
      if (message.type === "height") frame.style.height = `${message.height}px`;
      if (message.type === "run") {
        asked.set(message.number, event.source);
        model.send(message);
      }
    };
    const answer = (message, buffers) => {
      if (message.type === "welcome") {
        welcome = message;
        line.textContent = "● Live: your notebook computes what you change.";
        for (const frame of frames()) say(frame.contentWindow, welcome); // those that said hello before
        return;
      }
      const [view] = buffers ?? [];
      const buffer = view?.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
      say(asked.get(message.number), buffer ? { ...message, buffer } : message);
      asked.delete(message.number);
    };
    window.addEventListener("message", hear);
    model.on("msg:custom", answer);
    model.send({ type: "hello" });
    return () => {
      window.removeEventListener("message", hear);
      model.off("msg:custom", answer);
    };
  },
};
