// The picture answers: zoom and pan, neighbours of what is pointed at, the sentence behind a line, sections of a concept.
// Texts of papers enter the page as text nodes only.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const stage = document.getElementById("stage");
  const panel = document.getElementById("panel");
  const tip = document.getElementById("tip");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const picture = stage.querySelector("svg.picture");
  const view = picture.querySelector(".view");
  const links = [...picture.querySelectorAll(".link")];
  const concepts = [...picture.querySelectorAll(".concept")];
  const sections = [...picture.querySelectorAll(".section")];
  const nodes = [...concepts, ...sections];
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") element.addEventListener("click", value);
      else if (value !== "") element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  };

  // A text with marks ([start, end] or [start, end, concept]; positions count code points, as Python's do).
  const marked = (text, marks) => {
    const points = [...text];
    const pieces = [];
    let last = 0;
    for (const [start, end, concept] of marks) {
      pieces.push(points.slice(last, start).join(""));
      const known = concept !== undefined && data.concepts[concept];
      pieces.push(make("mark", known ? { class: `c${known.category}`, title: known.label } : {}, points.slice(start, end).join("")));
      last = end;
    }
    pieces.push(points.slice(last).join(""));
    return pieces.filter((piece) => piece !== "");
  };
  const where = (section) => [section.cited, section.heading].filter(Boolean).join(", ");
  const quote = (entry) => entry.text
    ? make("p", { class: entry.lead ? "quote lead" : "quote", dir: "auto" }, ...(entry.lead ? ["In its heading: "] : []), ...marked(entry.text, entry.marks))
    : null;

  // ---- zoom ----
  const box = picture.viewBox.baseVal;
  // What can be seen, in the units of the picture: more than its box where the stage has other proportions.
  const visible = () => {
    const shown = picture.getBoundingClientRect();
    const fit = Math.min(shown.width / box.width, shown.height / box.height);
    const [width, height] = [shown.width / fit, shown.height / fit];
    return [[(box.width - width) / 2, (box.height - height) / 2], [(box.width + width) / 2, (box.height + height) / 2]];
  };
  const zoom = d3.zoom()
    .scaleExtent([1, 8])
    .extent(visible)
    .translateExtent([[0, 0], [box.width, box.height]])
    // Turning the wheel beyond the whole picture scrolls the page.
    .filter(() => !d3.event.button && !(d3.event.type === "wheel" && d3.event.deltaY > 0 && d3.zoomTransform(picture).k <= zoom.scaleExtent()[0]))
    .on("zoom", () => { view.setAttribute("transform", d3.event.transform); hideTip(); });
  const surface = d3.select(picture);
  surface.call(zoom).on("dblclick.zoom", null);
  const moved = () => (quiet.matches ? surface : surface.transition().duration(250));
  // On a narrow screen the whole would be too small to read: begin at the question, names at a legible size.
  const start = () => {
    const shown = picture.getBoundingClientRect();
    const fit = Math.min(shown.width / box.width, shown.height / box.height);
    const scale = shown.width < 620 ? Math.max(1, 0.85 / fit) : 1;
    if (scale === 1) return d3.zoomIdentity;
    const question = view.querySelector(".question");
    const middle = question ? question.getBBox().y : box.height / 2;
    const wanted = d3.zoomIdentity.translate(0, box.height / 2).scale(scale).translate(0, -middle);
    return zoom.constrain()(wanted, visible(), zoom.translateExtent());
  };
  document.getElementById("in").addEventListener("click", () => moved().call(zoom.scaleBy, 1.4));
  document.getElementById("out").addEventListener("click", () => moved().call(zoom.scaleBy, 1 / 1.4));
  document.getElementById("reset").addEventListener("click", () => moved().call(zoom.transform, d3.zoomIdentity));

  const reveal = (element) => {
    const outer = stage.getBoundingClientRect();
    const inner = element.getBoundingClientRect();
    stage.scrollTo(0, 0);
    const dx = Math.max(outer.left + 8 - inner.left, 0) || Math.min(outer.right - 8 - inner.right, 0);
    const dy = Math.max(outer.top + 8 - inner.top, 0) || Math.min(outer.bottom - 8 - inner.bottom, 0);
    if (!dx && !dy) return;
    const unit = picture.getScreenCTM().a * d3.zoomTransform(picture).k;
    surface.call(zoom.translateBy, dx / unit, dy / unit);
  };

  // ---- what belongs together ----
  const rowOf = (element) => element.dataset.row;
  const kindOf = (element) => (element.classList.contains("concept") ? "concept" : "section");
  const endsOf = (link) => [
    link.classList.contains("asks") || link.classList.contains("wording") ? null : `concept ${link.dataset.source}`,
    `${link.classList.contains("mention") || link.classList.contains("wording") ? "section" : "concept"} ${link.dataset.target}`,
  ];
  const byKey = new Map(nodes.map((node) => [`${kindOf(node)} ${rowOf(node)}`, node]));
  const linksOf = (node) => links.filter((link) => endsOf(link).includes(`${kindOf(node)} ${rowOf(node)}`));
  let chosen = null;
  const highlight = (parts) => {
    const all = new Set(parts);
    for (const element of [...nodes, ...links]) element.classList.toggle("on", all.has(element));
    picture.classList.toggle("active", all.size > 0);
  };
  const around = (node) => {
    const own = linksOf(node);
    return [node, ...own, ...own.flatMap(endsOf).map((key) => byKey.get(key)).filter(Boolean)];
  };
  const across = (link) => [link, ...endsOf(link).map((key) => byKey.get(key)).filter(Boolean)];
  const rest = () => highlight(chosen ? around(chosen) : []);

  // ---- the sentence behind a line ----
  const describe = (link) => data.links[Number(link.dataset.link)];
  const hideTip = () => { tip.hidden = true; };
  const showTip = (link, x, y) => {
    const entry = describe(link);
    tip.replaceChildren(
      make("p", {}, make("strong", { dir: "auto" }, entry.what)),
      ...[quote(entry)].filter(Boolean),
      make("p", { class: "small muted" }, [entry.section === undefined ? "" : where(data.sections[entry.section]), entry.told].filter(Boolean).join(" · ")),
    );
    tip.hidden = false;
    const outer = stage.getBoundingClientRect();
    const left = Math.min(Math.max(x - outer.left + 14, 8), outer.width - tip.offsetWidth - 8);
    const below = y - outer.top + 16;
    const top = below + tip.offsetHeight > outer.height - 8 ? y - outer.top - tip.offsetHeight - 12 : below;
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${Math.max(top, 8)}px`;
  };

  // ---- panel ----
  const doi = (section) => section.url
    ? make("p", { class: "small" }, make("a", { href: section.url, rel: "noreferrer" }, section.url.replace("https://doi.org/", "doi:")))
    : null;
  const entry = (item) => {
    const section = data.sections[item.section];
    const name = section.text === undefined
      ? make("strong", { dir: "auto" }, where(section))
      : make("button", { type: "button", onclick: () => choose(byKey.get(`section ${item.section}`), true) }, where(section));
    return make("li", {}, ...[name, make("p", { class: "small", dir: "auto" }, section.title), quote(item), doi(section)].filter(Boolean));
  };
  const list = (title, items) => items.length ? [make("h3", {}, title), make("ul", {}, ...items)] : [];
  const title = (name, category) => make("h2", { class: `c${category}`, dir: "auto" }, make("i"), name);
  const showConcept = (row) => {
    const concept = data.concepts[row];
    const own = linksOf(byKey.get(`concept ${row}`)).filter((link) => link.classList.contains("relation"));
    const related = own.map((link) => {
      const other = link.dataset.source === String(row) ? link.dataset.target : link.dataset.source;
      const relation = describe(link);
      return make("li", {},
        make("button", { type: "button", onclick: () => choose(byKey.get(`concept ${other}`), true) }, data.concepts[other].label),
        ...[quote(relation)].filter(Boolean),
        make("p", { class: "small" }, `${where(data.sections[relation.section])} · ${relation.told}`));
    });
    panel.replaceChildren(
      title(concept.label, concept.category),
      make("p", { class: "small" }, concept.facts),
      ...list(`Sections in the picture (${concept.here.length})`, concept.here.map(entry)),
      ...list(`Elsewhere in the graph (${concept.elsewhere.length})`, concept.elsewhere.map(entry)),
      ...(concept.more > 0 ? [make("p", { class: "small" }, `${concept.more} more ${concept.more === 1 ? "section mentions" : "sections mention"} it.`)] : []),
      ...list(`Related concepts in the picture (${related.length})`, related),
    );
  };
  const showSection = (row) => {
    const section = data.sections[row];
    const names = section.concepts.flatMap((concept, n) => [n ? ", " : "", make("button", { type: "button", onclick: () => choose(byKey.get(`concept ${concept}`), true) }, data.concepts[concept].label)]);
    panel.replaceChildren(...[
      title(section.cited, section.category),
      make("p", { dir: "auto" }, section.title),
      make("p", { class: "small", dir: "auto" }, [section.heading, `Rank ${section.rank}, score ${section.score}`].filter(Boolean).join(" · ")),
      doi(section),
      section.concepts.length ? make("p", { class: "small" }, "Concepts: ", ...names) : null,
      make("p", { class: "text", dir: "auto" }, ...marked(section.text, section.marks)),
    ].filter(Boolean));
  };
  const showAll = () => {
    const ranked = sections.map(rowOf).sort((a, b) => data.sections[a].rank - data.sections[b].rank);
    panel.replaceChildren(
      make("h2", {}, "Sections found"),
      make("p", { class: "small" }, "Best first. Choose one here, or anything in the picture."),
      make("ul", {}, ...ranked.map((row) => {
        const section = data.sections[row];
        return make("li", {},
          make("button", { type: "button", onclick: () => choose(byKey.get(`section ${row}`), true) }, where(section)),
          make("p", { class: "small", dir: "auto" }, [`Rank ${section.rank}`, section.title].filter(Boolean).join(" · ")),
          ...("texts" in panel.dataset ? [make("p", { class: "text", dir: "auto" }, ...marked(section.text, section.marks))] : []));
      })),
    );
  };
  const choose = (node, focusPanel = false) => {
    if (chosen) { chosen.classList.remove("chosen"); chosen.setAttribute("aria-pressed", "false"); }
    chosen = node;
    hideTip();
    rest();
    if (!node) { showAll(); return; }
    node.classList.add("chosen");
    node.setAttribute("aria-pressed", "true");
    (kindOf(node) === "concept" ? showConcept : showSection)(rowOf(node));
    panel.scrollTop = 0;
    if (focusPanel) { panel.focus({ preventScroll: true }); reveal(node); }
    const below = panel.getBoundingClientRect().top > innerHeight - 80;
    if (below) panel.scrollIntoView({ block: "start" });
  };

  // ---- pointer and keyboard ----
  const ring = (node) => {
    const inner = node.getBBox();
    const rectangle = document.createElementNS(picture.namespaceURI, "rect");
    for (const [name, value] of Object.entries({ class: "ring", x: inner.x - 4, y: inner.y - 4, width: inner.width + 8, height: inner.height + 8, rx: 5 })) rectangle.setAttribute(name, value);
    node.append(rectangle);
  };
  for (const node of nodes) {
    const name = node.querySelector("title").textContent;
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-pressed", "false");
    node.setAttribute("aria-label", `${kindOf(node) === "concept" ? "Concept" : "Section"} ${name}`);
    ring(node);
    node.addEventListener("mouseenter", () => highlight(around(node)));
    node.addEventListener("mouseleave", rest);
    node.addEventListener("focus", () => { reveal(node); highlight(around(node)); });
    node.addEventListener("blur", rest);
    node.addEventListener("click", () => choose(node));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(node); }
      else if (event.key.startsWith("Arrow")) { event.preventDefault(); along(node, event.key); }
      else if (event.key === "Escape") choose(null);
    });
  }
  let from = null;
  const along = (node, key, current = null) => {
    const own = linksOf(node);
    if (!own.length) return;
    const step = key === "ArrowDown" || key === "ArrowRight" ? 1 : -1;
    const next = current ? own.indexOf(current) + step : (step > 0 ? 0 : own.length - 1);
    from = node;
    own[(next + own.length) % own.length].focus({ preventScroll: true });
  };
  for (const link of links) {
    const told = describe(link);
    link.setAttribute("tabindex", "-1");
    link.setAttribute("role", "img");
    link.setAttribute("aria-label", [told.what, told.text, told.section === undefined ? "" : where(data.sections[told.section]), told.told].filter(Boolean).join(". "));
    link.addEventListener("mouseenter", (event) => { highlight(across(link)); showTip(link, event.clientX, event.clientY); });
    link.addEventListener("mousemove", (event) => showTip(link, event.clientX, event.clientY));
    link.addEventListener("mouseleave", () => { hideTip(); rest(); });
    link.addEventListener("click", (event) => showTip(link, event.clientX, event.clientY));
    link.addEventListener("focus", () => {
      highlight(across(link));
      const line = link.querySelector(".line");
      const middle = line.getPointAtLength(line.getTotalLength() / 2);
      const matrix = line.getScreenCTM();
      showTip(link, middle.x * matrix.a + matrix.e, middle.y * matrix.d + matrix.f);
    });
    link.addEventListener("blur", () => { hideTip(); rest(); });
    link.addEventListener("keydown", (event) => {
      if (event.key === "Escape" || event.key === "Tab") { if (event.key === "Escape") event.stopPropagation(); if (from) from.focus({ preventScroll: true }); }
      else if (event.key.startsWith("Arrow")) { event.preventDefault(); along(from || byKey.get(endsOf(link)[1]), event.key, link); }
      else if (event.key === "Enter") {
        const other = endsOf(link).map((end) => byKey.get(end)).find((node) => node && node !== from);
        if (other) other.focus({ preventScroll: true });
      }
    });
  }
  picture.addEventListener("click", (event) => { if (!event.target.closest(".concept, .section, .link")) choose(null); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { hideTip(); if (chosen && event.target === panel) chosen.focus({ preventScroll: true }); } });

  // ---- search ----
  const plain = (text) => text.normalize("NFKC").toLowerCase().trim();
  const matches = () => {
    const wanted = plain(find.value);
    if (!wanted) return [];
    const own = concepts.filter((node) => plain(data.concepts[rowOf(node)].label).includes(wanted));
    return own.sort((a, b) => data.concepts[rowOf(a)].label.length - data.concepts[rowOf(b)].label.length);
  };
  find.addEventListener("input", () => {
    const own = matches();
    found.textContent = find.value.trim() ? (own.length === 1 ? "1 concept" : `${own.length} concepts`) : "";
    if (own.length) highlight(own); else rest();
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { find.value = ""; found.textContent = ""; rest(); return; }
    if (event.key !== "Enter") return;
    const [first] = matches();
    if (first) { choose(first); first.focus({ preventScroll: true }); }
  });

  addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
  showAll();
  surface.call(zoom.transform, start());
})();
