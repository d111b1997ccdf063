// The theme: as the system has it, light, dark. Remembered where the browser allows it (not for every file:). Runs in
// the head, so that a page is never first shown in the wrong one; the button is hidden where no script can serve it.
(() => {
  "use strict";
  const themes = ["auto", "light", "dark"];
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("evigraph-theme"); } catch { return null; } };
  const store = (theme) => { try { localStorage.setItem("evigraph-theme", theme); } catch { /* for this page only */ } };
  const set = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.dataset.theme = theme;
  };
  let current = themes.includes(stored()) ? stored() : "auto";
  set(current);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("button.theme");
    if (!button) return;
    const show = () => {
      button.textContent = `Theme: ${current}`;
      button.dataset.value = current;
    };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      current = themes[(themes.indexOf(current) + 1) % themes.length];
      set(current);
      store(current);
      show();
    });
  });
})();
