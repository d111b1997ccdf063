// The map of communities: circles and links by D3, names where they find room, zoom, pointer and keyboard.
(() => {
  "use strict";

  /** Draws `data` into the SVG `node`; `state` says what is selected, `select` is told what is chosen. */
  window.overviewMap = (node, data, state, select) => {
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
      .attr("aria-label", (c) => `${c.name}: ${c.size.toLocaleString("en")} concept${c.size === 1 ? "" : "s"}`);
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
    svg.call(zoom).on("dblclick.zoom", null).style("touch-action", null);

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
  };

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
})();
