// The theme button: as the system has it, light, dark. Remembered where the browser allows it (not for every file:).
(() => {
  "use strict";
  const button = document.querySelector("button.theme");
  if (!button) return;
  const themes = ["auto", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("evigraph-theme"); } catch { return null; } };
  const store = (theme) => { try { localStorage.setItem("evigraph-theme", theme); } catch { /* for this page only */ } };
  const show = (theme) => {
    if (theme === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    button.dataset.value = theme;
  };
  show(themes.includes(stored()) ? stored() : "auto");
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(button.dataset.value) + 1) % themes.length];
    show(next);
    store(next);
  });
})();
