// The map of communities, the panel beside it, the search and the sorting of the table.
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
    const largest = data.communities.slice(0, 6).map((_, n) => el("li", {}, opener(n)));
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
    else document.getElementById("panel-title").focus({ preventScroll: window.matchMedia("(min-width: 62.01rem)").matches });
  }

  // ---- The map

  function drawMap(node) {
    const d3 = window.d3;
    const svg = d3.select(node);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const box = bounds(data.communities);
    const near = data.communities.map((_, n) => new Set([n]));
    for (const [a, b] of data.links) { near[a].add(b); near[b].add(a); }
    let size = [0, 0], base = null, placed = [], current = 0;

    const lines = svg.append("g").selectAll("line").data(data.links).enter().append("line").attr("class", "link");
    const circles = svg.append("g").selectAll("g").data(data.communities).enter().append("g")
      .attr("class", (c) => `community c${c.colour}`).attr("role", "button").attr("tabindex", (_, n) => (n ? -1 : 0))
      .attr("aria-label", (c) => `${c.name}: ${plural(c.size, "concept")}`);
    circles.append("circle");
    const names = svg.append("g").attr("aria-hidden", "true").selectAll("text").data(data.communities).enter().append("text").attr("class", "name").attr("dir", "auto");
    const measured = measure(node, data.communities);

    const zoom = d3.zoom().scaleExtent([1, 10])
      .filter(() => {
        const event = d3.event;
        if (event.type === "wheel") { if (!event.ctrlKey && !event.metaKey) hint(); return event.ctrlKey || event.metaKey; }
        if (event.type === "touchstart") return event.touches.length > 1 || node.classList.contains("zoomed");
        return !event.button;
      })
      .on("zoom", () => draw());
    svg.call(zoom).on("dblclick.zoom", null);

    function transform() {
      const { k, x, y } = d3.zoomTransform(node);
      return { k: k * base.k, x: x + k * base.x, y: y + k * base.y };
    }

    /** To the size of its box; a tall box shows the map on its side. */
    function fit() {
      const [width, height] = [node.clientWidth, node.clientHeight];
      if (!width || !height) return;
      size = [width, height];
      const tall = height > width;
      const [w, h] = tall ? [box.height, box.width] : [box.width, box.height];
      const k = Math.min((width - 24) / w, (height - 24) / h, 1.6);
      base = { tall, k, x: width / 2, y: height / 2 };
      svg.attr("viewBox", `0 0 ${width} ${height}`);
      zoom.extent([[0, 0], size]).translateExtent([[0, 0], size]);
      draw();
    }

    function draw() {
      if (!base) return;
      const t = transform();
      placed = data.communities.map((c) => {
        const [x, y] = base.tall ? [c.y, c.x] : [c.x, c.y];
        return { x: t.x + t.k * x, y: t.y + t.k * y, r: t.k * c.r };
      });
      circles.select("circle").attr("cx", (_, n) => placed[n].x).attr("cy", (_, n) => placed[n].y).attr("r", (_, n) => placed[n].r);
      lines.attr("x1", ([a]) => placed[a].x).attr("y1", ([a]) => placed[a].y).attr("x2", ([, b]) => placed[b].x).attr("y2", ([, b]) => placed[b].y)
        .attr("stroke-width", ([, , width]) => Math.max(1, 9 * width * Math.sqrt(t.k)));
      node.classList.toggle("zoomed", d3.zoomTransform(node).k > 1.001);
      label();
    }

    /** Names within their circles where they fit, else beside, the largest first; none over another or a circle. */
    function label() {
      const active = state.hovered ?? state.selected;
      const labels = placed.map((at, n) => inside(at, measured[n]));
      const taken = [];
      if (active !== null && !labels[active]) {
        labels[active] = beside(placed[active], measured[active], active, [], size, []) ?? forced(placed[active], measured[active], size);
        taken.push(labels[active].box);
      }
      placed.forEach((at, n) => {
        if (labels[n] && n !== active && taken.some((other) => labels[n].box && overlap(labels[n].box, other))) labels[n] = null;
      });
      placed.forEach((at, n) => {
        if (labels[n] || n === active) return;
        labels[n] = beside(at, measured[n], n, placed, size, taken);
        if (labels[n]) taken.push(labels[n].box);
      });
      names.each(function (c, n) {
        const own = labels[n];
        this.style.display = own ? "" : "none";
        if (!own) { this.replaceChildren(); return; }
        const height = own.size * 1.22;
        this.setAttribute("class", `name ${own.anchor === "middle" ? "" : own.anchor}${own.outside ? " outside" : ""}`);
        this.setAttribute("font-size", own.size);
        this.replaceChildren(...own.lines.map((line, i) => {
          const span = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
          span.setAttribute("x", own.x);
          span.setAttribute("y", own.y + (i - (own.lines.length - 1) / 2) * height + own.size * 0.35);
          if (i < own.bold) span.setAttribute("font-weight", "600");
          span.textContent = line;
          return span;
        }));
      });
      mark(false);
    }

    function mark(again = true) {
      const active = state.hovered ?? state.selected;
      if (again) { label(); return; }
      const bright = active === null ? null : near[active];
      svg.classed("active", active !== null);
      circles.classed("near", (_, n) => bright?.has(n) ?? false).classed("selected", (_, n) => n === state.selected)
        .attr("aria-pressed", (_, n) => String(n === state.selected));
      names.classed("near", (_, n) => bright?.has(n) ?? false);
      lines.classed("near", ([a, b]) => a === active || b === active);
      lines.filter(".near").raise();
    }

    function hover(n) { state.hovered = n; mark(); }

    function go(n, attend = true) {
      circles.attr("tabindex", (_, i) => (i === n ? 0 : -1));
      current = n;
      if (attend) circles.nodes()[n].focus();
    }

    /** The nearest circle towards an arrow: distance along it counts once, across it twice. */
    function towards(dx, dy) {
      const from = placed[current];
      let best = null, least = Infinity;
      placed.forEach((at, n) => {
        const along = (at.x - from.x) * dx + (at.y - from.y) * dy;
        const across = Math.abs((at.x - from.x) * dy) + Math.abs((at.y - from.y) * dx);
        if (along > 1 && along + 2 * across < least) { best = n; least = along + 2 * across; }
      });
      return best ?? current;
    }

    circles.on("click", (_, n) => { go(n, false); select(n, true); })
      .on("mouseenter", (_, n) => hover(n)).on("mouseleave", () => hover(null))
      .on("focus", function (_, n) { current = n; if (this.matches(":focus-visible")) hover(n); }).on("blur", () => hover(null));
    node.addEventListener("keydown", (event) => {
      const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (arrows[event.key]) go(towards(...arrows[event.key]));
      else if (event.key === "Home") go(0);
      else if (event.key === "End") go(placed.length - 1);
      else if (event.key === "Enter" || event.key === " ") select(current, true);
      else if (event.key === "+" || event.key === "=") scale(1.5);
      else if (event.key === "-") scale(1 / 1.5);
      else if (event.key === "0") all();
      else return;
      event.preventDefault();
    });

    const moved = () => (still ? svg : svg.transition().duration(250));
    const scale = (k) => moved().call(zoom.scaleBy, k);
    const all = () => moved().call(zoom.transform, d3.zoomIdentity);
    for (const button of document.querySelectorAll("[data-zoom]"))
      button.addEventListener("click", () => ({ in: () => scale(1.5), out: () => scale(1 / 1.5), all })[button.dataset.zoom]());

    const note = document.querySelector(".hint");
    let fading = 0;
    function hint() {
      note.textContent = `${navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl"} and scroll to zoom`;
      note.hidden = false;
      clearTimeout(fading);
      fading = setTimeout(() => { note.hidden = true; }, 1200);
    }

    new ResizeObserver(fit).observe(node);
    fit();
    return { mark, focus: (n) => { if (n !== null) go(n); } };
  }

  function bounds(communities) {
    const reach = (axis, sign) => Math.max(...communities.map((c) => sign * c[axis] + c.r));
    const [width, height] = ["x", "y"].map((axis) => 2 * Math.max(reach(axis, 1), reach(axis, -1)));
    return { width, height };
  }

  /** Widths of each name, and of the first one in two lines, in parts of the font size. */
  function measure(node, communities) {
    const probe = document.createElementNS("http://www.w3.org/2000/svg", "text");
    probe.setAttribute("class", "name");
    probe.setAttribute("font-size", "100");
    const span = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
    probe.append(span);
    node.append(probe);
    const widths = (lines, bold) => lines.map((line, i) => {
      span.style.fontWeight = i < bold ? "600" : "400";
      span.textContent = line;
      return span.getComputedTextLength() / 100;
    });
    const result = communities.map((c) => {
      const whole = { lines: c.lines, widths: widths(c.lines, 1) };
      const options = [3, 2, 1].filter((n) => n <= c.lines.length).map((n) => ({ lines: c.lines.slice(0, n), widths: whole.widths.slice(0, n) }));
      for (const line of c.lines) for (const n of [2, 3]) {
        const broken = breaks(line, n).map((lines) => ({ lines, widths: widths(lines, n), bold: n }));
        if (broken.length) options.push(broken.reduce((a, b) => (Math.max(...b.widths) < Math.max(...a.widths) ? b : a)));
      }
      for (const line of c.lines.slice(1)) options.push({ lines: [line], widths: widths([line], 1) });
      return options;
    });
    probe.remove();
    return result;
  }

  /** The ways to write a name in `n` lines, broken between words. */
  function breaks(name, n) {
    const words = name.split(" ");
    if (n === 1) return [[name]];
    if (words.length > 6) return [];
    return words.slice(1).flatMap((_, i) => breaks(words.slice(i + 1).join(" "), n - 1).map((rest) => [words.slice(0, i + 1).join(" "), ...rest]));
  }

  /** The first of the ways to name a circle that fits into it, in type of a good size if there is one. */
  function inside(at, options) {
    for (const least of [11.5, 10])
      for (const { lines, widths, bold = 1 } of options)
        for (let size = Math.min(17, Math.max(at.r / 3, least)); size >= least; size -= 0.5) {
          const fits = lines.every((_, i) => {
            const edge = (Math.abs(i - (lines.length - 1) / 2) + 0.5) * size * 1.15;
            return edge < at.r && 2 * Math.sqrt(at.r ** 2 - edge ** 2) - 4 >= widths[i] * size;
          });
          if (fits) return { x: at.x, y: at.y, size, lines, bold, anchor: "middle", outside: false, box: null };
        }
    return null;
  }

  function beside(at, options, own, circles, [width, height], taken) {
    const size = 11.5;
    for (const { lines, widths, bold = 1 } of [options.find((way) => way.lines.length === 1), options.find((way) => way.bold === 2)].filter(Boolean)) {
      const [w, h] = [Math.max(...widths) * size, lines.length * size * 1.22];
      const gap = at.r + 4;
      const spots = [
        { x: at.x + gap, y: at.y, anchor: "start", left: at.x + gap, top: at.y - h / 2 },
        { x: at.x - gap, y: at.y, anchor: "end", left: at.x - gap - w, top: at.y - h / 2 },
        { x: at.x, y: at.y + gap + h / 2, anchor: "middle", left: at.x - w / 2, top: at.y + gap },
        { x: at.x, y: at.y - gap - h / 2, anchor: "middle", left: at.x - w / 2, top: at.y - gap - h },
      ];
      for (const spot of spots) {
        const box = { left: spot.left - 1, top: spot.top, right: spot.left + w + 1, bottom: spot.top + h };
        if (box.left < 2 || box.top < 2 || box.right > width - 2 || box.bottom > height - 2) continue;
        if (circles.some((circle, n) => n !== own && touches(box, circle)) || taken.some((other) => overlap(box, other))) continue;
        return { x: spot.x, y: spot.y, size, lines, bold, anchor: spot.anchor, outside: true, box };
      }
    }
    return null;
  }

  /** For the circle in hand: over whatever is there, but within the picture. */
  function forced(at, options, [width, height]) {
    const { lines, widths, bold = 1 } = options.find((way) => way.lines.length === 1);
    const size = 11.5;
    const [w, h] = [Math.max(...widths) * size, lines.length * size * 1.22];
    const x = Math.min(Math.max(at.x, w / 2 + 3), width - w / 2 - 3);
    const y = Math.min(Math.max(at.y, h / 2 + 3), height - h / 2 - 3);
    return { x, y, size, lines, bold, anchor: "middle", outside: true, box: { left: x - w / 2, right: x + w / 2, top: y - h / 2, bottom: y + h / 2 } };
  }

  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

  function touches(box, circle) {
    const dx = circle.x - Math.min(Math.max(circle.x, box.left), box.right);
    const dy = circle.y - Math.min(Math.max(circle.y, box.top), box.bottom);
    return dx * dx + dy * dy < (circle.r + 2) ** 2;
  }

  // ---- The search

  function search(input, list) {
    const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    const known = data.communities.flatMap((c, n) => c.names.split("\n").map((name) => ({ name, n, folded: fold(name) })));
    let hits = [], at = -1;

    function update() {
      const wanted = fold(input.value).trim();
      hits = wanted ? known.filter((entry) => entry.folded.includes(wanted)) : [];
      const rank = (entry) => (entry.folded === wanted ? 0 : entry.folded.startsWith(wanted) ? 1 : entry.folded.includes(` ${wanted}`) ? 2 : 3);
      hits = hits.map((entry) => [rank(entry), entry]).sort((a, b) => a[0] - b[0]).map(([, entry]) => entry);
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
  map = drawMap(canvas);
  search(document.getElementById("search"), document.getElementById("found"));
  sortable(document.querySelector("table"));
  for (const row of rows) row.querySelector("th button").addEventListener("click", () => {
    select(Number(row.dataset.number), true);
    canvas.closest(".atlas").scrollIntoView({ block: "start" });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.selected !== null) select(null, true);
  });
})();
