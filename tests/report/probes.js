// Looks at a loaded report and returns what is wrong with it. Evaluated by the browser's debugger, not by the page,
// whose policy forbids scripts. The last line of each probe is the value; each returns a list of complaints.

const name = e => {
  const cls = e.getAttribute && e.getAttribute("class");
  const near = e.closest("[id]");
  return (near ? "#" + near.id + " " : "") + e.tagName.toLowerCase() + (cls ? "." + cls.trim().replace(/\s+/g, ".") : "");
};
const quote = s => JSON.stringify(s.trim().replace(/\s+/g, " ").slice(0, 40));

// A colour as the browser computes it, to [r, g, b, alpha].
const colour = text => {
  const m = /rgba?\(([^)]+)\)/.exec(text || "");
  if (!m) return null;
  const v = m[1].split(/[\s,\/]+/).map(Number);
  return [v[0], v[1], v[2], v.length > 3 ? v[3] : 1];
};
const over = (top, below) => {
  const a = top[3];
  return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a)).concat([1]);
};
// WCAG 2.1: relative luminance and contrast ratio.
const luminance = c => {
  const f = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]);
};
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
// What was found of an element is kept for those below it and for the next question: nothing moves while a probe looks.
const once = find => {
  const known = new Map();
  return e => {
    if (!known.has(e)) known.set(e, find(e));
    return known.get(e);
  };
};
// What is behind an element: backgrounds of it and its ancestors, over white.
const behind = once(e => {
  if (!e) return [255, 255, 255, 1];
  const c = colour(getComputedStyle(e).backgroundColor);
  if (!c || c[3] === 0) return behind(e.parentElement);
  return c[3] === 1 ? over(c, c) : over(c, behind(e.parentElement));
});
// Whether it lies in a box that scrolls sideways.
const scrolls = once(e => !!e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement)));
// The shapes of a drawing, where they are, and what they are filled with.
const shapes = once(svg => [...svg.querySelectorAll("rect, circle, path, polygon")].filter(shape => !shape.closest("defs, clipPath, pattern")).map(shape => {
  const s = getComputedStyle(shape);
  const c = colour(s.fill);
  if (c) c[3] *= Number(s.fillOpacity) * Number(s.opacity);
  return [shape, shape.getBoundingClientRect(), c];
}));
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const shown = e => {
  const s = getComputedStyle(e);
  const r = e.getBoundingClientRect();
  // What is folded is looked at when it is unfolded.
  return e.checkVisibility() && s.visibility === "visible" && s.display !== "none" && Number(s.opacity) > 0 && r.width > 0 && r.height > 0;
};

const probes = {
  // Every text against what is behind it, in SVG also against the shapes it lies on.
  contrast(least) {
    const bad = [];
    let seen = 0;
    const judge = (e, text, style, inSvg) => {
      const grounds = [behind(e)];
      if (inSvg) {
        const box = e.getBoundingClientRect();
        for (const [shape, place, c] of shapes(e.ownerSVGElement))
          if (c && meet(place, box) && shape.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) grounds.push(over(c, grounds[0]));
      }
      seen += 1;
      for (const ground of grounds) {
        const ink = colour(inSvg ? style.fill : style.color);
        if (!ink) { bad.push(`${name(e)} ${quote(text)}: its colour cannot be read`); continue; }
        ink[3] *= Number(style.opacity);
        const r = ratio(over(ink, ground), ground);
        if (r < least) bad.push(`${name(e)} ${quote(text)}: ${r.toFixed(2)}`);
      }
    };
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
      const e = node.parentElement;
      if (!node.data.trim() || !shown(e) || e.closest("title, desc, style")) continue;
      judge(e, node.data, getComputedStyle(e), e instanceof SVGElement);
    }
    for (const e of document.body.querySelectorAll("*")) {
      for (const part of ["::before", "::after", "::marker"]) {
        const s = getComputedStyle(e, part);
        const text = part === "::marker" ? (getComputedStyle(e).display === "list-item" ? "marker" : "") : s.content;
        if (!text || ["none", "normal", '""'].includes(text) || !shown(e)) continue;
        judge(e, text, s, false);
      }
    }
    if (!seen) bad.push("no text is visible");
    return bad;
  },

  // Nothing wider than the view, but what scrolls inside its own box; no SVG text cut off or on other text.
  overflow() {
    const width = document.documentElement.clientWidth;
    const bad = [];
    if (document.documentElement.scrollWidth > width) bad.push(`the page is ${document.documentElement.scrollWidth} px wide in a view of ${width}`);
    for (const e of document.body.querySelectorAll("*")) {
      if (!shown(e)) continue;
      const r = e.getBoundingClientRect();
      if (!scrolls(e.parentElement) && !e.ownerSVGElement && (r.right > width + 0.5 || r.left < -0.5)) bad.push(`${name(e)}: from ${r.left.toFixed(0)} to ${r.right.toFixed(0)} in a view of ${width}`);
    }
    for (const svg of document.querySelectorAll("figure svg")) {
      const box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")].filter(shown).map(t => [t, t.getBoundingClientRect()]);
      for (const [t, r] of texts)
        if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1) bad.push(`${name(t)} ${quote(t.textContent)} is cut off`);
      for (let i = 0; i < texts.length; i++)
        for (let j = i + 1; j < texts.length; j++) {
          const [a, b] = [texts[i][1], texts[j][1]];
          const shrink = r => ({ left: r.left + 1, right: r.right - 1, top: r.top + 4, bottom: r.bottom - 4 });
          if (meet(shrink(a), shrink(b))) bad.push(`${name(texts[i][0])} ${quote(texts[i][0].textContent)} lies on ${quote(texts[j][0].textContent)}`);
        }
    }
    return bad;
  },

  // Every figure is visible, drawn, named for those who cannot see it, and told in words.
  figures() {
    const bad = [];
    const all = [...document.querySelectorAll("figure")];
    if (!all.length && document.querySelector("#ledger, #proof")) bad.push("there is no figure");
    for (const figure of all) {
      const where = name(figure);
      if (figure.closest("details:not([open])")) continue;
      if (!shown(figure)) bad.push(`${where} is not visible`);
      const svg = figure.querySelector("svg");
      if (!svg || !shown(svg)) { bad.push(`${where} has no visible SVG`); continue; }
      if (svg.getAttribute("role") !== "img") bad.push(`${where}: the SVG has no role="img"`);
      for (const part of ["title", "desc"]) {
        const e = svg.querySelector(`:scope > ${part}`);
        if (!e || !e.textContent.trim()) bad.push(`${where}: the SVG has no <${part}>`);
      }
      if (![...svg.querySelectorAll("rect, path, circle, line, polyline, polygon")].some(s => !s.closest("defs") && (r => r.width > 0 || r.height > 0)(s.getBoundingClientRect()))) bad.push(`${where} draws nothing`);
      const caption = figure.querySelector("figcaption");
      if (!caption || !shown(caption) || caption.textContent.trim().length < 20) bad.push(`${where} is not told in words`);
    }
    return bad;
  },

  // Nothing that runs, loads or leads elsewhere.
  inert() {
    const bad = [];
    if (document.querySelector("script, iframe, object, embed, link, base, form, foreignObject")) bad.push("there is an element that runs or loads something");
    for (const e of document.querySelectorAll("*"))
      for (const a of e.attributes) {
        if (/^on/i.test(a.name)) bad.push(`${name(e)} has ${a.name}`);
        if (/^(href|src|xlink:href|action|srcset)$/i.test(a.name) && !a.value.startsWith("#")) bad.push(`${name(e)} leads to ${quote(a.value)}`);
        if (a.name === "href" && a.value.length > 1 && !document.getElementById(a.value.slice(1))) bad.push(`${name(e)} leads to ${a.value}, which does not exist`);
      }
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) bad.push(`id ${id} stands twice`);
    return bad;
  },

  // What a reader with a screen reader or another screen needs.
  manners() {
    const bad = [];
    const need = (what, ok) => ok || bad.push(what);
    need("no lang", document.documentElement.lang);
    need("no title", document.title.trim());
    need("no viewport", document.querySelector("meta[name=viewport]"));
    const policy = (document.querySelector('meta[http-equiv="Content-Security-Policy" i]') || {}).content || "";
    need(`the policy is ${quote(policy)}`, policy.includes("default-src 'none'") && !policy.includes("script-src"));
    need("not exactly one h1", document.querySelectorAll("h1").length === 1);
    let level = 1;
    for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
      const l = Number(h.tagName[1]);
      need(`${quote(h.textContent)}: level ${l} after ${level}`, l <= level + 1);
      level = l;
    }
    for (const table of document.querySelectorAll("table")) need(`${name(table)}: a table without <th scope>`, table.querySelector("th[scope]"));
    return bad;
  },

  // The text as read, for what must be in it.
  text() { return [document.body.textContent]; },
  // Where things are, to compare the page with and without scripts.
  layout() { return [...document.querySelectorAll("h2, figure, table")].map(e => { const r = e.getBoundingClientRect(); return `${name(e)} ${r.width.toFixed(0)}x${r.height.toFixed(0)}`; }); },
};
return probes[arguments[0]](...[...arguments].slice(1));
