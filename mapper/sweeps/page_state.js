"use strict";
// what the page shows: its data, the filter, the selection that all views share
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const drawn = [0, 1];  // which of the axes lie along x and along y
let view, workload = data.workloads[0], chosen = null, hovered = null;
const hidden = new Set();  // mapspaces

function make(parent, tag, attributes = {}, text = null) {
  const svg = parent.namespaceURI && parent.namespaceURI.endsWith("svg") || tag === "svg";
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return parent.appendChild(node);
}
const show = value => value === null ? "" : Number.isInteger(value) && Math.abs(value) < 1e9 ? value.toLocaleString("en")
  : Math.abs(value) >= 1e5 || value !== 0 && Math.abs(value) < 1e-3
  ? value.toExponential(3) : (+value.toPrecision(5)).toLocaleString("en", {maximumFractionDigits: 9});
const tick = value => Math.abs(value) < 1e5 ? show(value) : value.toExponential(3).replace(/\.?0*e\+?/, "e");
const value_text = value => typeof value === "number" ? String(value) : value ?? "";
const parameters = one => Object.entries(one.values).map(([name, value]) => `${name} = ${value_text(value)}`);
const colour = mapspace => data.palette[data.mapspaces.indexOf(mapspace) % data.palette.length];
const number = mapspace => data.mapspaces.indexOf(mapspace);
const least = values => values.reduce((a, b) => Math.min(a, b), Infinity);  // of any number: arguments are limited
const most = values => values.reduce((a, b) => Math.max(a, b), -Infinity);

// the parameters that vary, each with its values in order; of each design the places of its values among these
const varied = data.parameters.map(name => {
  const values = [...new Set([...data.designs, ...data.unsearched.marks].map(one => one.values[name]))];
  const numeric = values.every(value => typeof value === "number");
  if (numeric) values.sort((a, b) => a - b);
  return {name, short: data.short[name], values, numeric, kept: values.map(() => true)};
}).filter(parameter => parameter.values.length > 1);
for (const parameter of varied) {
  const places = new Map(parameter.values.map((value, i) => [value, i]));
  parameter.place = new Map([...data.designs, ...data.unsearched.marks].map(one => [one, places.get(one.values[parameter.name])]));
}
const kept = one => !hidden.has(one.mapspace) && varied.every(parameter => parameter.kept[parameter.place.get(one)]);
const filtered = () => varied.some(parameter => parameter.kept.includes(false));
const shown = () => data.designs.filter(one => one.workload === workload && kept(one));

// figures: logarithmic where all are above 0
const line_scale = {to: v => v, from: v => v}, log_scale = {to: Math.log10, from: v => 10 ** v};
const measure_scales = data.measures.map((_, i) =>
  data.designs.every(one => one.figures[i] > 0 && !(data.drawn.includes(i) && one.low[data.drawn.indexOf(i)] <= 0)) ? log_scale : line_scale);
const scales = data.drawn.map(measure => measure_scales[measure]);

// lanes: what a design can be selected by; of each its coordinate there, between low and high
function lanes_of(designs) {
  const lanes = varied.map((parameter, i) => ({key: `parameter ${i}`, head: parameter.short, title: parameter.name, low: -0.5, high: parameter.values.length - 0.5,
    of: one => parameter.place.get(one), ticks: parameter.values.map((value, at) => [at, value_text(value)])}));
  data.measures.forEach((measure, i) => {
    const scale = measure_scales[i], figures = designs.map(one => scale.to(one.figures[i]));
    const low = least(figures), high = most(figures), margin = (high - low || 1) * 0.04;
    lanes.push({key: `measure ${i}`, head: `${measure.name} [${measure.unit}]`, title: measure.name, low: low - margin, high: high + margin,
      of: one => scale.to(one.figures[i]), scale});
  });
  return lanes;
}
let lanes = [];
const lane_of = key => lanes.find(lane => lane.key === key);
const along = (lane, coordinate) => (coordinate - lane.low) / (lane.high - lane.low);

// the selection: by lane from where to where; a design is in it if it is in all
const brushes = new Map();
const picked = one => [...brushes].every(([key, [low, high]]) => { const own = lane_of(key).of(one); return own >= low && own <= high; });
const brushed = one => brushes.size > 0 && picked(one);
function brush(key, low, high) {
  if (low === null) brushes.delete(key); else brushes.set(key, [Math.min(low, high), Math.max(low, high)]);
}

// of designs those that no other dominates on all axes
function frontier_of(designs) {
  const better = (a, b) => a.middle.every((value, i) => value <= b.middle[i]) && a.middle.some((value, i) => value < b.middle[i]);
  return designs.filter(one => !designs.some(other => better(other, one)));
}

// the marks of designs that were not searched: drawn where one axis is area, and the other the objective
const BOUND_AXES = () => drawn.map(axis => data.drawn[axis]);
const AREA = data.measures.findIndex(measure => measure.name === "area");
function bounds_shown() {
  const axes = BOUND_AXES(), own = data.unsearched.workloads.indexOf(workload);
  if (!at("bounds").checked || !axes.includes(AREA) || !axes.includes(data.unsearched.measure)) return [];
  return data.unsearched.marks.filter(kept).map(one => ({one, figures: axes.map(axis => axis === AREA ? one.area : one.bounds[own])}));
}
