// The frame is as high as what it shows, also when that changes.
(() => {
  const frame = window.frameElement;
  if (!frame) return;
  const fit = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height) + frame.offsetHeight - frame.clientHeight;
    if (document.body.clientWidth > 0 && frame.offsetHeight !== height) frame.style.height = `${height}px`;
  };
  new ResizeObserver(fit).observe(document.body);
  fit();
})();
