"use strict";
// Runs the model of model.js with the runtime of runtime.js. Nothing here asks the network.

const ARRAYS = {
  bool: Uint8Array, float32: Float32Array, float64: Float64Array, int8: Int8Array,
  int16: Int16Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array,
  uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};
const NPY = {
  "|b1": "bool", "<f4": "float32", "<f8": "float64", "|i1": "int8", "<i2": "int16", "<i4": "int32",
  "<i8": "int64", "|u1": "uint8", "<u2": "uint16", "<u4": "uint32", "<u8": "uint64",
};
const SHOWN = 24; // numbers of an output that are shown as bars
const element = (id) => document.getElementById(id);

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

function make(tag, parent, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  parent.append(made);
  return made;
}

function shapeOf(port) {
  const count = Number(element("count").value);
  const size = (text) => {
    const [, scale, offset] = text.match(/^(?:(\d+)\*)?[A-Za-z_]\w*([+-]\d+)?$/);
    return Number(scale ?? 1) * count + Number(offset ?? 0);
  };
  return port.shape.map((n) => (typeof n === "string" ? size(n) : n));
}

const product = (shape) => shape.reduce((x, y) => x * y, 1);

// One number as the element of a typed array.
function converted(x, dtype) {
  if (dtype === "bool") return x === true || (x !== false && Number(x) !== 0) ? 1 : 0;
  if (!dtype.endsWith("int64")) return Number(x);
  return typeof x === "bigint" ? x : BigInt(Math.trunc(Number(x)));
}

function typed(numbers, port) {
  const shape = shapeOf(port);
  const wanted = product(shape);
  if (numbers.length === 1 && wanted > 1) numbers = Array(wanted).fill(numbers[0]);
  if (numbers.length !== wanted) {
    throw new Error(`${port.name}: ${wanted} numbers were expected, for the shape ` +
      `[${shape.join(", ")}]; got ${numbers.length}`);
  }
  const found = ARRAYS[port.dtype].from(numbers, (x) => converted(x, port.dtype));
  if (port.dtype.startsWith("float") && found.some(Number.isNaN) && !numbers.some(isNotANumber)) {
    throw new Error(`${port.name}: a number was expected, got ${numbers.find((x) => isNaN(x))}`);
  }
  return found;
}

const isNotANumber = (x) => typeof x === "number" && Number.isNaN(x);

// Numbers from text: nested lists of JSON, or numbers between commas and spaces.
function numbersOf(text) {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) return JSON.parse(trimmed).flat(Infinity);
  return trimmed.split(/[\s,;]+/).filter((word) => word !== "").map((word) => {
    if (word === "true" || word === "false") return word === "true";
    if (/^nan$/i.test(word)) return NaN;
    const found = Number(word.replace(/^([+-]?)inf$/i, "$1Infinity"));
    if (Number.isNaN(found)) throw new Error(`a number was expected, got ${word}`);
    return found;
  });
}

// The elements of a .npy file, in rows.
function npy(buffer) {
  const bytes = new Uint8Array(buffer), view = new DataView(buffer);
  if (String.fromCharCode(...bytes.subarray(1, 6)) !== "NUMPY") throw new Error("no .npy file");
  const wide = bytes[6] > 1, length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const start = (wide ? 12 : 10) + length;
  const head = new TextDecoder().decode(bytes.subarray(wide ? 12 : 10, start));
  const dtype = NPY[head.match(/'descr': '([^']+)'/)?.[1]];
  if (!dtype || head.includes("'fortran_order': True")) {
    throw new Error(`a .npy file of numbers in rows was expected, got ${head.trim()}`);
  }
  return Array.from(new ARRAYS[dtype](buffer.slice(start)));
}

// An image as numbers from 0 to 1: [1, c, h, w] or [1, h, w, c], with 1, 3 or 4 channels.
async function image(file, port) {
  const shape = shapeOf(port).slice(-3);
  const last = [1, 3, 4].includes(shape[2]) && !([1, 3, 4].includes(shape[0]));
  const [channels, height, width] = last ? [shape[2], shape[0], shape[1]] : shape;
  if (shape.length < 3 || ![1, 3, 4].includes(channels)) {
    throw new Error(`${port.name}: an image needs three axes, one of 1, 3 or 4 channels`);
  }
  const canvas = Object.assign(document.createElement("canvas"), {width, height});
  const context = canvas.getContext("2d");
  context.drawImage(await createImageBitmap(file), 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height).data;
  const scale = port.dtype.startsWith("float") ? 1 / 255 : 1;
  const at = (y, x, c) => {
    const i = 4 * (y * width + x);
    const value = channels === 1 ? (pixels[i] + pixels[i + 1] + pixels[i + 2]) / 3 : pixels[i + c];
    return value * scale;
  };
  const found = [];
  const sizes = last ? [height, width, channels] : [channels, height, width];
  for (let i = 0; i < sizes[0]; i++) {
    for (let j = 0; j < sizes[1]; j++) {
      for (let k = 0; k < sizes[2]; k++) found.push(last ? at(i, j, k) : at(j, k, i));
    }
  }
  return found;
}

async function read(file, port) {
  if (file.type.startsWith("image/")) return image(file, port);
  if (file.name.endsWith(".npy")) return npy(await file.arrayBuffer());
  return numbersOf(await file.text());
}

function describe(port) {
  return `${port.dtype}[${port.shape.join(", ")}]`;
}

function showInput(port) {
  const box = make("div", element("inputs"), "", "port");
  const title = make("h3", box, `${port.name} `);
  make("span", title, describe(port), "type");
  const text = make("textarea", box);
  text.rows = 3;
  text.value = "0";
  text.id = `input-${port.name}`;
  text.setAttribute("aria-label", `numbers of ${port.name}`);
  const note = make("p", box, "one number stands for all; drop a file here, or ", "hint");
  const pick = make("input", note);
  pick.type = "file";
  const seen = make("img", note, "", "seen");
  seen.alt = "the file";
  seen.hidden = true;
  port.read = () => port.held ?? numbersOf(text.value);
  text.addEventListener("input", () => { port.held = null; });
  const take = async (file) => {
    try {
      port.held = await read(file, port);
      text.value = `${file.name}: ${port.held.length} numbers`;
      seen.hidden = !file.type.startsWith("image/");
      seen.src = seen.hidden ? "" : URL.createObjectURL(file);
      fail("");
    } catch (error) {
      fail(error.message);
    }
  };
  pick.addEventListener("change", () => take(pick.files[0]));
  for (const [kind, on] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    box.addEventListener(kind, (event) => {
      event.preventDefault();
      box.classList.toggle("over", on);
      if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
    });
  }
}

function fail(text) {
  element("error").textContent = text;
}

// The place of a number in an array: "1, 3".
function placeOf(i, dims) {
  const found = [];
  for (const n of [...dims].reverse()) {
    found.unshift(i % n);
    i = Math.floor(i / n);
  }
  return found.join(", ");
}

// most: the number whose bar is the longest, of all outputs.
function showOutput(port, tensor, most) {
  const box = make("div", element("outputs"), "", "port");
  const title = make("h3", box, `${port.name} `);
  make("span", title, `${port.dtype}[${tensor.dims.join(", ")}]`, "type");
  const numbers = Array.from(tensor.data, Number);
  if (numbers.length > SHOWN) {
    make("pre", box, `${numbers.slice(0, 100).map((x) => x.toPrecision(6)).join("  ")}` +
      (numbers.length > 100 ? `  … ${numbers.length} numbers` : ""));
    return;
  }
  const table = make("table", box);
  numbers.forEach((x, i) => {
    const row = make("tr", table);
    make("td", row, placeOf(i, tensor.dims), "place");
    make("td", row, Number.isInteger(x) ? String(x) : x.toPrecision(6));
    const bar = make("i", make("td", row, "", "bar"));
    bar.style.width = `${(100 * Math.abs(x)) / most}%`;
    bar.classList.toggle("negative", x < 0);
  });
}

async function start() {
  const [inputs, outputs] = [MODEL.inputs, MODEL.outputs].map((ports) =>
    ports.map(([name, dtype, shape]) => ({name, dtype, shape: shape ?? []})));
  document.title = element("name").textContent = MODEL.name;
  element("size").hidden = !MODEL.symbol;
  element("symbol").textContent = MODEL.symbol;
  inputs.forEach(showInput);
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = bytesOf(RUNTIME.binary).buffer;
  const loader = new Blob([RUNTIME.loader], {type: "text/javascript"});
  ort.env.wasm.wasmPaths = {mjs: URL.createObjectURL(loader)};
  const before = performance.now();
  const session = await ort.InferenceSession.create(bytesOf(MODEL.onnx), {
    executionProviders: ["wasm"], logSeverityLevel: 3,
  });
  element("state").textContent = `Ready in ${(performance.now() - before).toFixed(0)} ms.`;
  const run = async () => {
    fail("");
    const feeds = {};
    for (const port of inputs) {
      feeds[port.name] = new ort.Tensor(port.dtype, typed(port.read(), port), shapeOf(port));
    }
    const from = performance.now();
    const results = await session.run(feeds);
    const spent = performance.now() - from;
    element("time").textContent = `${spent.toFixed(spent < 10 ? 2 : 0)} ms`;
    element("outputs").replaceChildren();
    const few = outputs.map((port) => results[port.name]).filter((x) => x.size <= SHOWN);
    const finite = few.flatMap((x) => Array.from(x.data, Number)).filter(Number.isFinite);
    const most = Math.max(...finite.map(Math.abs), 0) || 1;
    for (const port of outputs) showOutput(port, results[port.name], most);
    globalThis.RESULTS = Object.fromEntries(outputs.map((port) => [port.name,
      {dims: [...results[port.name].dims], data: Array.from(results[port.name].data, Number)}]));
  };
  element("run").disabled = false;
  element("run").addEventListener("click", () => run().catch((error) => fail(error.message)));
}

start().catch((error) => {
  element("state").textContent = "The program could not be loaded.";
  fail(error.message ?? String(error));
});
