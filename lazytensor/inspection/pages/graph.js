"use strict";
// The data are the program's vertices; what is drawn are boxes: vertices, or groups of them.

const { vertices, text } = JSON.parse(document.getElementById("data").textContent);
const svg = document.getElementById("graph");
const [grouping, query, found, details] = ["grouping", "query", "found", "details"].map((id) =>
  document.getElementById(id));

const GROUPINGS = {
  "nothing": () => null,
  "composite": (v) => v.composite[0],
  "module": (v) => v.module || v.place, // what is in none: a backward pass, an optimizer
  "function": (v) => v.function,
  "line": (v) => v.place,
};
const FIELDS = {
  "op": (v) => v.op,
  "type": (v) => v.type,
  "attributes": (v) => v.attributes,
  "line": (v) => v.place,
  "source": (v) => v.source,
  "function": (v) => v.function,
  "module": (v) => v.module,
  "composite": (v) => v.composite.join(" › "),
  "sharding": (v) => v.sharding,
  "operands": (v) => v.operands.map((n) => `${vertices[n].op} ${vertices[n].type}`).join("\n"),
};
const [CHARACTER, HEIGHT, ACROSS, DOWN] = [7.3, 52, 24, 44];

// Boxes that are split over devices in one way have one colour: a class of the page's style.
const shardings = [...new Set(vertices.map((v) => v.sharding).filter(Boolean))];
const SPLIT_COLOURS = 6;

const opened = new Set(); // groups whose members are shown
let boxes = []; // what is drawn, operands first
let chosen = null;
let view = { x: 0, y: 0, width: 100, height: 100 };

function makeBoxes() {
  const of = GROUPINGS[grouping.value];
  const known = new Map();
  const boxOf = vertices.map((vertex) => {
    if (vertex.kind === "scalar") return null; // the details of its user have it
    const group = vertex.kind === "operation" ? of(vertex) : null;
    const key = group && !opened.has(group) ? group : vertex.number;
    if (!known.has(key)) {
      known.set(key, { key, members: [], operands: new Set(), users: new Set() });
    }
    known.get(key).members.push(vertex);
    return known.get(key);
  });
  for (const vertex of vertices) {
    for (const operand of vertex.operands) {
      const [from, to] = [boxOf[operand], boxOf[vertex.number]];
      if (from && from !== to) {
        to.operands.add(from);
        from.users.add(to);
      }
    }
  }
  // A group stands where its first member does; inputs of its other members come before it too.
  const isInput = (box) => box.members[0].kind === "parameter";
  boxes = [...known.values()].sort((a, b) => isInput(b) - isInput(a));
  boxes.forEach((box, order) => Object.assign(box, describe(box), { order }));
}

function describe(box) {
  const [first] = box.members;
  const isGroup = typeof box.key === "string";
  const rows = isGroup
    ? [box.key, `${box.members.length} operations`, first.place]
    : [first.op, first.type, first.place];
  const kind = isGroup ? "group" : first.kind;
  const output = box.members.some((vertex) => vertex.output) ? " output" : "";
  const width = Math.max(...rows.map((row) => row.length)) * CHARACTER + 16;
  const ways = new Set(box.members.map((vertex) => vertex.sharding));
  const way = ways.size === 1 ? shardings.indexOf(first.sharding) : -1;
  const split = way < 0 ? "" : ` split${way % SPLIT_COLOURS}`;
  return { rows, width, style: `box ${kind}${output}${split}` };
}

// Layers by the longest way from an input; in a layer, boxes lie near what they are computed from.
function arrange() {
  const layers = [];
  for (const box of boxes) {
    // A group may need what itself is needed for; such edges are drawn, and do not count.
    const before = [...box.operands].filter((other) => other.order < box.order);
    box.layer = Math.max(-1, ...before.map((other) => other.layer)) + 1;
  }
  for (const box of [...boxes].reverse()) { // down to its first user
    const after = [...box.users].filter((other) => other.order > box.order);
    if (after.length) box.layer = Math.min(...after.map((other) => other.layer)) - 1;
  }
  for (const box of boxes) (layers[box.layer] ||= []).push(box);
  for (const layer of layers.filter(Boolean)) {
    layer.forEach((box) => { box.wish = mean([...box.operands].map((other) => other.x)); });
    layer.sort((a, b) => a.wish - b.wish || a.order - b.order);
    let x = -layer.reduce((sum, box) => sum + box.width + ACROSS, 0) / 2;
    for (const box of layer) {
      box.x = x + box.width / 2;
      box.y = box.layer * (HEIGHT + DOWN);
      x += box.width + ACROSS;
    }
  }
}

function mean(numbers) {
  const known = numbers.filter(Number.isFinite);
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : 0;
}

function draw() {
  svg.replaceChildren(...boxes.flatMap(edges), ...boxes.map(drawBox));
  mark();
}

function edges(box) {
  return [...box.operands].map((from) => {
    const [y, end] = [from.y + HEIGHT / 2, box.y - HEIGHT / 2];
    const bend = Math.max((end - y) / 2, 20);
    const path = element("path", {
      d: `M${from.x},${y} C${from.x},${y + bend} ${box.x},${end - bend} ${box.x},${end}`,
    });
    path.ends = [from, box];
    return path;
  });
}

function drawBox(box) {
  const group = element("g", { class: box.style, transform: `translate(${box.x},${box.y})` });
  const [x, y] = [-box.width / 2, -HEIGHT / 2];
  group.append(element("rect", { x, y, width: box.width, height: HEIGHT, rx: 5 }));
  ["name", "type", "line"].forEach((name, i) => {
    const row = element("text", { class: name, y: (i - 1) * 15 + 4 });
    row.textContent = box.rows[i];
    group.append(row);
  });
  group.onclick = () => choose(box);
  group.ondblclick = () => toggle(box);
  box.drawn = group;
  return group;
}

function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function choose(box) {
  chosen = box;
  tell();
  mark();
}

// Opens a group, or closes the group of a vertex.
function toggle(box) {
  const group = typeof box.key === "string" ? box.key : GROUPINGS[grouping.value](box.members[0]);
  if (!group) return;
  if (!opened.delete(group)) opened.add(group);
  chosen = null;
  update();
}

function tell() {
  if (!chosen) {
    const all = document.createElement("pre");
    all.textContent = text;
    details.replaceChildren(all);
    return;
  }
  details.replaceChildren(...chosen.members.map((vertex) => {
    const table = document.createElement("table");
    for (const [name, field] of Object.entries(FIELDS)) {
      const value = field(vertex);
      if (!value) continue;
      const row = table.insertRow();
      row.append(Object.assign(document.createElement("th"), { textContent: name }));
      row.insertCell().textContent = value;
    }
    return table;
  }));
}

function matches(box) {
  const wanted = query.value.trim().toLowerCase();
  return wanted !== "" && box.members.some((vertex) =>
    Object.values(FIELDS).slice(0, 8).some((field) => (field(vertex) || "").toLowerCase().includes(wanted)));
}

function mark() {
  const hits = boxes.filter(matches);
  boxes.forEach((box) => {
    box.drawn.classList.toggle("hit", hits.includes(box));
    box.drawn.classList.toggle("chosen", box === chosen);
  });
  svg.querySelectorAll("path").forEach((path) =>
    path.classList.toggle("chosen", path.ends.includes(chosen)));
  svg.classList.toggle("searching", hits.length > 0);
  found.textContent = query.value.trim() ? `${hits.length} found` : "";
  return hits;
}

function look(next) {
  view = next;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
}

function lookAtAll() {
  const xs = boxes.flatMap((box) => [box.x - box.width / 2, box.x + box.width / 2]);
  const ys = boxes.map((box) => box.y);
  const [x, y] = [Math.min(...xs) - 20, Math.min(...ys) - HEIGHT];
  look({ x, y, width: Math.max(...xs) - x + 20, height: Math.max(...ys) - y + HEIGHT });
}

// The next box that is found, in the middle.
function lookAtNext() {
  const hits = mark();
  if (!hits.length) return;
  choose(hits[(hits.indexOf(chosen) + 1) % hits.length]);
  const [width, height] = [Math.min(view.width, 900), Math.min(view.height, 600)];
  look({ x: chosen.x - width / 2, y: chosen.y - height / 2, width, height });
}

function update() {
  makeBoxes();
  arrange();
  draw();
  lookAtAll();
  tell();
}

function scale() { // units of the graph in a pixel
  const { width, height } = svg.getBoundingClientRect();
  return Math.max(view.width / width, view.height / height);
}

svg.onwheel = (event) => {
  event.preventDefault();
  const factor = Math.exp(event.deltaY / 500);
  const { left, top, width, height } = svg.getBoundingClientRect();
  const [across, down] = [(event.clientX - left) / width, (event.clientY - top) / height];
  look({
    x: view.x + view.width * (1 - factor) * across,
    y: view.y + view.height * (1 - factor) * down,
    width: view.width * factor,
    height: view.height * factor,
  });
};
svg.onpointermove = (event) => {
  if (event.buttons !== 1) return;
  look({ ...view, x: view.x - event.movementX * scale(), y: view.y - event.movementY * scale() });
};
grouping.onchange = () => { opened.clear(); chosen = null; update(); };
query.oninput = mark;
query.onkeydown = (event) => { if (event.key === "Enter") lookAtNext(); };
document.getElementById("whole").onclick = lookAtAll;

// An address such as `page.html#group=composite&find=exp` opens the page so.
const asked = new URLSearchParams(location.hash.slice(1));
for (const [name, of] of Object.entries(GROUPINGS)) {
  const known = name === "module" ? vertices.some((v) => v.module) : vertices.some(of);
  if (name === "nothing" || known) grouping.add(new Option(name));
}
grouping.value = asked.get("group") || "nothing";
query.value = asked.get("find") || "";
update();
if (query.value) lookAtNext();
