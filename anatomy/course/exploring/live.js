// The link between a page in a frame and a running kernel. The frame knows the key; nothing else is passed on.
export default {
  render({ model, el }) {
    const key = model.get("key");
    const line = document.createElement("div");
    line.setAttribute("role", "status");
    line.style.cssText = "font:12px/1.5 system-ui,sans-serif;opacity:.75";
    line.textContent = "● Live: your notebook computes what you change.";
    el.append(line);
    const frames = new Map(); // number of a run → who asked
    const say = (window, message) => window?.postMessage({ explorer: key, ...message }, "*");
    const everyFrame = () => [...document.querySelectorAll("iframe.anatomy-explorer")].map((one) => one.contentWindow);
    const welcome = () => model.get("welcome");

    const hear = (event) => {
      const message = event.data;
      if (message?.explorer !== key || !everyFrame().includes(event.source)) return;
      if (message.type === "hello") say(event.source, welcome());
      if (message.type === "height") {
        const frame = [...document.querySelectorAll("iframe.anatomy-explorer")].find((one) => one.contentWindow === event.source);
        frame.style.height = `${message.height}px`;
      }
      if (message.type === "run") {
        frames.set(message.number, event.source);
        model.send(message);
      }
    };
    const answer = (message, buffers) => {
      const asked = frames.get(message.number);
      frames.delete(message.number);
      const [view] = buffers ?? [];
      const buffer = view?.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
      say(asked, buffer ? { ...message, buffer } : message);
    };
    window.addEventListener("message", hear);
    model.on("msg:custom", answer);
    for (const frame of everyFrame()) say(frame, welcome()); // those that were here first
    return () => {
      window.removeEventListener("message", hear);
      model.off("msg:custom", answer);
    };
  },
};
