// Citations open their passage in a dialog: the passage is cloned from the appendix, and only the quote of this
// citation stays marked. The address names the citation shown (#passage-17), so that it can be shared and Back closes.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const sourceOf = (element) => {
    for (const math of element.querySelectorAll("math")) math.replaceWith(math.getAttribute("title"));
    return element.textContent;
  };

  // The table of contents follows the reading position.
  const toc = document.querySelector("nav.toc");
  const headings = [...document.querySelectorAll(".heading")];
  const links = new Map([...toc.querySelectorAll("a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  let waiting = false;
  const follow = () => {
    waiting = false;
    if (!toc.offsetParent) return;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < (atEnd ? innerHeight : innerHeight / 4));
    const current = links.get(passed.at(-1)?.id);
    const before = toc.querySelector("[aria-current]");
    if (current === before) return;
    before?.removeAttribute("aria-current");
    if (!current) return;
    current.setAttribute("aria-current", "location");
    const box = current.getBoundingClientRect(), view = toc.getBoundingClientRect();
    if (box.top < view.top || box.bottom > view.bottom) toc.scrollTop += box.top - view.top - view.height / 3;
  };
  addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(follow); } }, { passive: true });
  addEventListener("resize", follow);
  follow();
  const narrow = document.querySelector("details.contents");
  narrow?.addEventListener("click", (event) => { if (event.target.closest("a")) narrow.open = false; });

  // What is copied holds formulas as the source has them.
  document.addEventListener("copy", (event) => {
    const selection = getSelection();
    if (!selection.rangeCount || !event.clipboardData) return;
    const part = selection.getRangeAt(0).cloneContents();
    if (!part.querySelector("math")) return;
    for (const block of part.querySelectorAll("p, li, h1, h2, h3, h4, h5, h6, tr, figcaption, .text")) block.append("\n");
    for (const hidden of part.querySelectorAll(".verdict")) hidden.remove();
    event.clipboardData.setData("text/plain", sourceOf(part).trim());
    event.preventDefault();
  });

  const dialog = byId("citation");
  if (!dialog?.showModal) return;
  const [about, scroller, title] = [".about", ".scroller", "h2"].map((selector) => dialog.querySelector(selector));
  const [entry, summary, sentence, steps] = [".entry", ".summary", ".sentence", ".steps"].map((selector) => about.querySelector(selector));
  const total = Number(dialog.dataset.citations);
  const numberOf = (fragment) => {
    const number = Number(/^#passage-(\d+)$/.exec(fragment)?.[1]);
    return number >= 1 && number <= total ? number : 0;
  };
  const markOf = [null]; // citation -> its link; several citations may share one
  for (const mark of document.querySelectorAll("a.cite")) {
    mark.setAttribute("role", "button");
    mark.setAttribute("aria-haspopup", "dialog");
    for (let i = 0; i < Number(mark.dataset.count); i++) markOf.push(mark);
  }
  let shown = 0; // the citation in the dialog
  let leaving = false; // between history.back() and its popstate
  let next = 0; // what to open after that
  let address = 0; // timer: browsers refuse addresses that change as fast as a held key can

  const clone = (element) => {
    const copy = element.cloneNode(true);
    for (const anchor of copy.querySelectorAll("[id]")) anchor.removeAttribute("id");
    return copy;
  };

  /** The texts of a passage with the quote of `number` alone marked, as one <mark>. */
  const passageTexts = (article, number) => {
    const texts = [...article.querySelectorAll(".text")].map(clone);
    const kept = [];
    for (const text of texts) {
      for (const mark of text.querySelectorAll("mark")) {
        if (!mark.dataset.q.split(" ").includes(String(number))) {
          mark.replaceWith(...mark.childNodes);
        } else if (kept.length && kept.at(-1) === mark.previousSibling) {
          kept.at(-1).append(...mark.childNodes);
          mark.remove();
        } else {
          kept.push(mark);
        }
      }
    }
    return "missing" in article.dataset ? texts.filter((text) => text.querySelector("mark")) : texts;
  };

  const fill = (number) => {
    const article = byId(`passage-${number}`).closest("article");
    const mark = markOf[number], cited = mark.closest(".s");
    title.textContent = total > 1 ? `Citation ${number} of ${total}` : "Citation";
    const reference = clone(article.closest(".paper").querySelector(".entry"));
    reference.querySelector(".label")?.removeAttribute("href");
    entry.replaceChildren(...reference.childNodes);
    summary.textContent = article.querySelector(".summary")?.textContent ?? ""; // where it never scrolls out of sight
    const texts = passageTexts(article, number);
    const quoted = texts.map((text) => text.querySelector("mark")?.textContent ?? "").join("");
    const words = clone(cited.querySelector(".t"));
    const own = words.textContent === quoted ? [] : [words]; // a quotation need not be said twice
    const verdicts = [...cited.querySelectorAll(":scope > .verdict")].map((verdict) => {
      const line = document.createElement("span");
      line.className = verdict.className;
      line.append(clone(verdict.querySelector("svg")), ` ${verdict.title}`);
      return line;
    });
    sentence.replaceChildren(...own, ...verdicts);
    const count = Number(mark.dataset.count), first = markOf.indexOf(mark);
    steps.replaceChildren(...(count < 2 ? [] : Array.from({ length: count }, (_, i) => {
      const step = document.createElement("button");
      step.type = "button";
      step.textContent = `Passage ${i + 1}`;
      step.dataset.number = first + i;
      if (first + i === number) step.setAttribute("aria-current", "true");
      return step;
    })));
    for (const [button, end] of [[".previous", 1], [".next", total]]) {
      dialog.querySelector(button).setAttribute("aria-disabled", String(number === end));
      dialog.querySelector(button).hidden = total < 2;
    }
    scroller.replaceChildren(...[...article.querySelectorAll("h4")].map(clone), ...texts,
      ...[...article.querySelectorAll(".found")].map(clone));
  };

  /** Bring the quote to the middle of the dialog, its beginning if it is longer. */
  const centre = () => {
    const box = scroller.querySelector("mark").getBoundingClientRect(), view = scroller.getBoundingClientRect();
    const heading = (scroller.querySelector("h4")?.offsetHeight ?? 0) + 16; // stays at the top
    scroller.scrollTop += box.top - view.top - Math.max(heading, (view.height - box.height) / 2);
  };

  const reveal = (mark) => {
    const box = mark.getBoundingClientRect();
    if (box.top < 40 || box.bottom > innerHeight - 40) mark.scrollIntoView({ block: "center", behavior: "instant" });
  };

  const show = (number) => {
    const focused = document.activeElement;
    markOf[shown]?.closest(".s").classList.remove("current");
    shown = number;
    fill(number);
    if (!dialog.open) { dialog.showModal(); scroller.focus({ preventScroll: true }); }
    else if (!focused.isConnected) steps.querySelector("[aria-current]")?.focus();
    centre();
    markOf[number].closest(".s").classList.add("current");
    reveal(markOf[number]);
  };

  /** Show `number` as a step of its own in the history, or in place of the one shown. */
  const open = (number) => {
    if (leaving) { next = number; return; }
    const fragment = `#passage-${number}`;
    clearTimeout(address);
    if (dialog.open || history.state?.citation) { // closed a moment ago, and its step not yet taken back
      address = setTimeout(() => history.replaceState(history.state, "", fragment), 150);
    } else {
      history.scrollRestoration = "manual"; // closing leaves the reader where the citation stands
      history.pushState({ citation: true }, "", fragment);
    }
    show(number);
  };

  const step = (by) => {
    const number = shown + by;
    if (number >= 1 && number <= total) open(number);
  };

  // The address decides: Back, Forward, a changed fragment, a shared link.
  const sync = () => {
    leaving = false;
    const number = numberOf(location.hash);
    if (number && !next) show(number);
    else if (dialog.open) dialog.close();
    if (next) { const wanted = next; next = 0; open(wanted); }
    else if (!number) setTimeout(() => { if (!shown) history.scrollRestoration = "auto"; }, 100);
  };
  addEventListener("popstate", sync);

  dialog.addEventListener("close", () => {
    if (dialog.open || !shown) return; // the event comes late: the dialog was opened again, or closed twice, since
    const mark = markOf[shown];
    mark.closest(".s").classList.remove("current");
    shown = 0;
    clearTimeout(address);
    if (numberOf(location.hash)) {
      if (history.state?.citation) { leaving = true; history.back(); }
      else history.replaceState(null, "", location.href.split("#")[0]);
    }
    reveal(mark);
    mark.focus({ preventScroll: true });
  });

  document.addEventListener("click", (event) => {
    const mark = event.target.closest("a.cite");
    if (!mark || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(markOf.indexOf(mark));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === " " && event.target.matches?.("a.cite")) { event.preventDefault(); event.target.click(); }
  });
  for (const type of ["pointerover", "focusin"]) {
    document.addEventListener(type, (event) => { // a mark tells its paper
      const mark = event.target.closest?.("a.cite");
      if (!mark || mark.title) return;
      const reference = clone(byId(`passage-${markOf.indexOf(mark)}`).closest(".paper").querySelector(".entry"));
      reference.querySelector(".label")?.remove();
      mark.title = sourceOf(reference).replace(/\s+/g, " ").trim();
    });
  }

  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.number) open(Number(button.dataset.number));
    else if (button?.matches(".previous")) step(-1);
    else if (button?.matches(".next")) step(1);
    else if (button?.matches(".close")) dialog.close();
    else if (event.target === dialog) {
      // Beside the dialog: another citation opens in its place, anything else closes it.
      const box = dialog.getBoundingClientRect();
      const [x, y] = [event.clientX, event.clientY];
      if (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) return;
      const under = [...document.querySelectorAll("a.cite")].find((mark) => [...mark.getClientRects()].some(
        (area) => x >= area.left - 2 && x <= area.right + 2 && y >= area.top - 2 && y <= area.bottom + 2));
      if (under) open(markOf.indexOf(under));
      else dialog.close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (!dialog.open || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) { event.preventDefault(); step(by); }
  });

  // A shared link. The browser goes to the appendix itself, and takes the focus along; come back from there.
  if (numberOf(location.hash)) {
    history.scrollRestoration = "manual";
    sync();
    addEventListener("load", () => requestAnimationFrame(() => { if (shown) { reveal(markOf[shown]); centre(); scroller.focus(); } }));
  }
})();
