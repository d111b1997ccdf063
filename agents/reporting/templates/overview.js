// The panel beside the map of communities, the search, and the sorting of the table.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const panel = document.getElementById("panel");
  const rows = [...document.querySelectorAll("tbody tr")];
  const number = new Intl.NumberFormat("en");
  const percent = (share) => (share > 0 && share < 0.005 ? "< 1%" : `${Math.round(share * 100)}%`);
  const papers = (count) => (count > 0 && count < 0.05 ? "< 0.1" : number.format(count >= 100 ? Math.round(count) : Math.round(count * 10) / 10));
  const plural = (n, noun) => `${number.format(n)} ${noun}${n === 1 ? "" : "s"}`;
  const state = { selected: null, hovered: null, sought: "" };
  let map = null;

  /** An element with attributes; texts become text, never markup. */
  function el(tag, attributes = {}, ...children) {
    const svg = ["svg", "rect", "line", "text", "title"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") node.addEventListener("click", value);
      else node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }
  const named = (tag, text, attributes = {}) => el(tag, { dir: "auto", ...attributes }, text);

  // ---- The panel

  function show() {
    const community = state.selected === null ? null : data.communities[state.selected];
    panel.replaceChildren(...(community ? about(community) : whole()));
    panel.scrollTop = 0;
    for (const row of rows) row.classList.toggle("selected", Number(row.dataset.number) === state.selected);
  }

  function whole() {
    const largest = data.communities.slice(0, data.bins.length ? 6 : 12).map((_, n) => el("li", {}, opener(n)));
    return [
      el("header", {}, el("h2", { id: "panel-title", tabindex: "-1" }, "The whole graph")),
      largest.length ? el("p", { class: "muted" }, "Choose a circle to see what its community is about.") : null,
      ...profile(data.whole, false),
      ...(largest.length ? [el("h3", {}, "Largest communities"), el("ol", { class: "largest" }, ...largest)] : []),
    ].filter(Boolean);
  }

  function about(community) {
    const close = el("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Esc)", onclick: () => select(null, true) }, "×");
    return [
      el("header", {}, named("h2", community.name, { id: "panel-title", tabindex: "-1" }), close),
      el("p", { class: "muted" }, `${plural(community.size, "concept")} · ${papers(community.profile.papers)} ${community.profile.papers === 1 ? "paper" : "papers"} · ${percent(community.inside)} of its edge weight stays inside`),
      state.sought ? found(community) : null,
      el("h3", {}, "Concepts that tell most of it"),
      el("ol", { class: "concepts" }, ...community.concepts.map(([label, sections, held]) =>
        el("li", {}, named("span", label, label === state.sought ? { class: "sought" } : {}), el("small", {}, `${plural(sections, "section")}, ${plural(held, "paper")}`)))),
      ...profile(community.profile, true),
      ...(community.papers.length ? [el("h3", {}, "Papers most about it"), el("ol", { class: "papers" }, ...community.papers.map(paper))] : []),
      ...(community.near.length ? [el("h3", {}, "Closest communities"), el("ol", { class: "neighbours" }, ...community.near.map(neighbour))] : []),
    ].filter(Boolean);
  }

  function found(community) {
    const place = community.names.split("\n").indexOf(state.sought);
    return el("p", { class: "found" }, named("mark", state.sought), ` is concept ${number.format(place + 1)} of ${number.format(community.size)} here.`);
  }

  function paper([who, year, title, url, share]) {
    const heading = url ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer", dir: "auto" }, title) : named("span", title);
    const by = [who, year].filter(Boolean).join(", ");
    return el("li", {}, el("span", { class: "share", title: "Share of its mentions in this community" }, percent(share)), heading,
      by ? el("br") : null, by ? named("small", by) : null);
  }

  function neighbour([n, share, said]) {
    const item = el("li", {}, el("span", { class: "share", title: "Share of this community’s edge weight that leads there" }, percent(share)), opener(n));
    if (said) {
      const [subject, relation, object, sentence, inText, cited] = said;
      item.append(el("br"), el("small", {}, named("bdi", subject), relation ? el("span", {}, " – ", named("bdi", relation), " → ") : " – ", named("bdi", object)));
      item.append(el("blockquote", {}, named("span", sentence), inText ? " " : " (heading) ", named("cite", cited)));
    }
    return item;
  }

  function opener(n) {
    const community = data.communities[n];
    return el("span", { class: "opener" }, el("i", { class: `c${community.colour}` }), named("button", community.name, { type: "button", onclick: () => select(n, true) }));
  }

  function profile(counts, fractional) {
    const parts = [];
    const weighed = fractional ? ", papers by share" : ", papers";
    if (data.bins.length) {
      parts.push(el("h3", {}, `Years${weighed}`), histogram(counts.years));
      if (counts.undated >= 0.05) parts.push(el("p", { class: "note" }, `${papers(counts.undated)} without a year.`));
    }
    const known = data.fields.map((field, n) => ({ ...field, count: counts.fields[n] })).filter((field) => field.count > 0);
    if (data.fields.some((field) => field.name) && known.length) {
      parts.push(el("h3", {}, `Fields${weighed}`), el("ul", { class: "fields" }, ...known.sort((a, b) => b.count - a.count).map(({ name, colour, count }) => {
        const bar = el("b", { class: `c${colour}` });
        bar.style.width = `${(100 * count) / counts.papers}%`;
        return el("li", {}, named("span", name || "unknown"), el("span", { class: "bar" }, bar), el("span", { class: "amount" }, percent(count / counts.papers)));
      })));
    }
    return parts;
  }

  function histogram(counts) {
    const [width, height, top] = [300, 76, 14];
    const step = width / counts.length;
    const most = Math.max(...counts, 1e-9);
    const told = data.bins.map((bin, n) => `${bin}: ${papers(counts[n])}`);
    const svg = el("svg", { class: "years", viewBox: `0 0 ${width} ${height + top + 14}`, role: "img", "aria-label": `Papers by year. ${told.join("; ")}` });
    counts.forEach((count, n) => {
      const tall = (height * count) / most;
      const bar = el("rect", { x: n * step + step * 0.08, y: top + height - tall, width: step * 0.84, height: tall, rx: 1.5 }, el("title", {}, told[n]));
      svg.append(bar);
    });
    const peak = counts.indexOf(most);
    if (peak >= 0) svg.append(el("text", { x: (peak + 0.5) * step, y: top - 4, "text-anchor": "middle" }, papers(most)));
    svg.append(el("line", { x1: 0, x2: width, y1: top + height + 0.5, y2: top + height + 0.5 }));
    svg.append(el("text", { x: 0, y: height + top + 12 }, data.bins[0]));
    if (counts.length > 1) svg.append(el("text", { x: width, y: height + top + 12, "text-anchor": "end" }, data.bins[counts.length - 1]));
    return svg;
  }

  /** Opens the panel of community `n`, or the whole graph's; `attend` moves the focus there, or back to the map. */
  function select(n, attend, sought = "") {
    const before = state.selected;
    Object.assign(state, { selected: n, hovered: null, sought });
    show();
    map?.mark();
    if (!attend) return;
    if (n === null) map?.focus(before);
    else {
      document.getElementById("panel-title").focus({ preventScroll: true });
      if (!window.matchMedia("(min-width: 62.01rem)").matches) panel.scrollIntoView({ block: "start" });
    }
  }

  // ---- The search

  function search(input, list) {
    const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    const known = data.communities.flatMap((c, n) => c.names.split("\n").map((name, place) => ({ name, n, place, folded: fold(name) })));
    let hits = [], at = -1;

    function update() {
      const wanted = fold(input.value).trim();
      hits = wanted ? known.filter((entry) => entry.folded.includes(wanted)) : [];
      const rank = (entry) => (entry.folded === wanted ? 0 : entry.folded.startsWith(wanted) ? 1 : entry.folded.includes(` ${wanted}`) ? 2 : 3);
      hits = hits.map((entry) => [rank(entry), entry]).sort((a, b) => a[0] - b[0] || a[1].place - b[1].place || a[1].n - b[1].n).map(([, entry]) => entry);
      const more = hits.length - 12;
      hits = hits.slice(0, 12);
      at = hits.length ? 0 : -1;
      list.replaceChildren(...hits.map((entry, i) => el("li", { role: "option", id: `found-${i}`, "aria-selected": String(i === at), onclick: () => choose(i) },
        named("span", entry.name), el("small", {}, "in ", named("bdi", data.communities[entry.n].name)))));
      if (wanted && !hits.length) list.append(el("li", { class: "nothing", role: "option", "aria-disabled": "true" }, `Not among the ${number.format(known.length)} concepts that can be searched here.`));
      if (more > 0) list.append(el("li", { class: "nothing", role: "option", "aria-disabled": "true" }, `and ${number.format(more)} more`));
      open(Boolean(wanted));
    }

    function open(shown) {
      list.hidden = !shown;
      input.setAttribute("aria-expanded", String(shown));
      if (shown && at >= 0) input.setAttribute("aria-activedescendant", `found-${at}`);
      else input.removeAttribute("aria-activedescendant");
    }

    function move(step) {
      if (list.hidden) { update(); return; }
      if (!hits.length) return;
      at = (at + step + hits.length) % hits.length;
      [...list.querySelectorAll("[aria-selected]")].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
      list.children[at].scrollIntoView({ block: "nearest" });
      open(true);
    }

    function choose(i) {
      open(false);
      input.value = hits[i].name;
      select(hits[i].n, true, hits[i].name);
    }

    input.addEventListener("input", update);
    input.addEventListener("focus", () => { if (input.value) update(); });
    input.addEventListener("blur", () => open(false));
    list.addEventListener("mousedown", (event) => event.preventDefault());
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") move(1);
      else if (event.key === "ArrowUp") move(-1);
      else if (event.key === "Enter" && at >= 0 && !list.hidden) choose(at);
      else if (event.key === "Escape" && !list.hidden) open(false);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // ---- The table

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const compare = new Intl.Collator(undefined, { numeric: true }).compare;
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", (event) => {
      const now = head.getAttribute("aria-sort");
      const order = now ? (now === "ascending" ? "descending" : "ascending") : event.currentTarget.dataset.first;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const value = (row) => row.cells[column].dataset.value;
      const text = !head.classList.contains("number");
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (!x || !y) return (x ? 0 : 1) - (y ? 0 : 1);  // what is unknown stays last
        return sign * (text ? compare(x, y) : Number(x) - Number(y)) || Number(a.dataset.number) - Number(b.dataset.number);
      });
      table.tBodies[0].append(...rows);
    }));
  }

  const canvas = document.getElementById("map");
  show();
  if (!canvas) return;
  map = window.overviewMap(canvas, data, state, select);
  search(document.getElementById("search"), document.getElementById("found"));
  sortable(document.querySelector("table"));
  for (const row of rows) row.querySelector("th button").addEventListener("click", () => {
    if (window.matchMedia("(min-width: 62.01rem)").matches) canvas.closest(".atlas").scrollIntoView({ block: "start" });
    select(Number(row.dataset.number), true);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.selected !== null) select(null, true);
  });
})();
