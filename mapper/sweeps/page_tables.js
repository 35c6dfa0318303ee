// the tables, and the energy of the chosen design
const ROWS = 100;  // of a long table that are there at once
const whole_tables = new Set();  // tables whose rows the user has asked for

function table(id, head, rows) {
  const node = at(id), few = whole_tables.has(id) ? rows : rows.slice(0, ROWS);
  node.replaceChildren();
  const top = make(make(node, "thead"), "tr");
  head.forEach((name, i) => make(top, "th", {class: rows.length && typeof rows[0][0][i] === "string" ? "text" : ""}, name));
  const body = make(node, "tbody");
  const lines = few.map(([cells, css]) => {
    const row = make(body, "tr", {class: css});
    cells.forEach(cell => {
      const box = make(row, "td", {class: typeof cell !== "string" ? cell?.href ? "text" : "" : cell.length > 60 ? "text long" : "text"});
      if (cell?.href) link(box, cell.href, cell.text); else box.textContent = typeof cell === "number" ? show(cell) : String(cell ?? "");
    });
    return row;
  });
  if (few.length < rows.length) {
    const more = make(make(make(body, "tr"), "td", {colspan: head.length, class: "text"}), "button", {type: "button"}, `show all ${rows.length.toLocaleString("en")} rows`);
    more.onclick = () => { whole_tables.add(id); tables(); fixed_tables(); };
  }
  return lines;
}
const link = (parent, href, text) => make(parent, "a", {href, target: "_blank", rel: "noopener"}, text);
// of the parameters in one column: a number stays one, several are text
const values = (one, column) => column.names.length === 1 ? one.values[column.names[0]] : column.names.map(name => String(one.values[name])).join(", ");
let rows = [], lines = [];
function tables() {
  table("fronts", ["mapspace", "designs", "hypervolume", "of the best mappings", "surely on it", "may join", "knee"],
    data.fronts.filter(one => one.workload === workload && !hidden.has(one.mapspace)).map(one => [[one.mapspace, one.size, one.hypervolume, one.volumes, one.surely, one.may_join, one.knee + (one.knees > 1 ? `, one of ${one.knees} that may be` : "")], ""]));
  points_table();
  bounds_table();
}
function points_table() {
  const several = data.designs.some(one => one.seeds > 1), linked = data.designs.some(one => one.page);
  const heads = data.axes.map(axis => `${axis.name} [${axis.unit}]`);
  rows = shown().sort((a, b) => brushed(b) - brushed(a) || a.middle[0] - b.middle[0] || a.middle[1] - b.middle[1]);
  lines = table("points", ["design", ...data.columns.map(column => column.head), "mapspace", ...heads, "proof", "frontier", ...(linked ? ["mapping"] : [])], rows.map(one => [
    [one.design, ...data.columns.map(column => values(one, column)), one.mapspace, ...one.middle, one.proof,
      one.front ? (several ? `yes, in ${Math.round(one.share * 100)} % of seeds` : "yes") + (one.surely ? ", surely" : "") + (one.knee ? ", knee" : "") : "",
      ...(linked ? [one.page ? {href: one.page, text: "open"} : "no page"] : [])],
    (one.front ? "front" : "") + (brushes.size && !picked(one) ? " off" : "")]));
  data.columns.forEach((column, i) => { at("points").querySelectorAll("th")[i + 1].title = column.names.join(", "); });
  lines.forEach((line, i) => line.addEventListener("click", () => choose(rows[i])));
  mark_row();
}
const mark_row = () => lines.forEach((line, i) => line.classList.toggle("chosen", rows[i] === chosen));
function bounds_table() {
  const own = data.unsearched.workloads.indexOf(workload), marks = data.unsearched.marks.filter(kept), measure = data.measures[data.unsearched.measure];
  at("unsearched_head").hidden = !data.unsearched.marks.length && !data.unsearched.without;
  if (!data.unsearched.marks.length) return;
  table("unsearched", ["design", ...data.columns.map(column => column.head), "mapspace", `area [${data.measures[AREA].unit}]`, `${measure.name} not below [${measure.unit}]`, "the answer"],
    marks.map(one => [[one.design, ...data.columns.map(column => values(one, column)), one.mapspace, one.area, one.bounds[own], one.open ? "may still change" : "does not change"], ""]));
}
function choose(one) {
  chosen = one;
  paint();
  paint_hovered();
  draw_strips();
  mark_row();
  const unit = data.energy_unit, parts = data.parts, bars = at("bars"), left = 170, high = 24;
  at("chosen").textContent = [`design ${one.design}, ${one.mapspace}`, ...parameters(one)].join("; ")
    + (one.seeds > 1 ? `; the best of ${one.seeds} seeds` : "") + `; energies in ${unit}`;
  at("link").replaceChildren();
  if (one.page) link(at("link"), one.page, "Open its mapping, step by step");
  else at("link").textContent = one.no_page ? `Its mapping has no page: ${one.no_page}` : data.pages ? `Its mapping has no page. ${data.pages}` : "";
  bars.replaceChildren();
  bars.setAttribute("viewBox", `0 0 ${W} ${one.layers.length * high + 34}`);
  const largest = most(one.layers.map(layer => layer.energy.reduce((a, b) => a + b, 0)));
  one.layers.forEach((layer, row) => {
    const name = layer.name + (layer.count > 1 ? ` ×${layer.count}` : "");
    make(make(bars, "text", {x: left - 8, y: row * high + 16, "text-anchor": "end"}, cut(name, left - 8)), "title", {}, name);
    let x = left;
    layer.energy.forEach((energy, i) => {
      const width = energy / largest * (W - left - 10);
      make(make(bars, "rect", {x, y: row * high + 3, width, height: high - 6, fill: part(i), stroke: "#fff", "stroke-width": .7}),
        "title", {}, `${parts[i]}: ${show(energy)} ${unit}`);
      x += width;
    });
  });
  let x = left;
  parts.forEach((name, i) => {
    make(bars, "rect", {x, y: one.layers.length * high + 12, width: 12, height: 12, fill: part(i)});
    make(bars, "text", {x: x + 17, y: one.layers.length * high + 22}, name);
    x += 34 + name.length * 7.5;
  });
  const times = one.layers.some(layer => layer.count > 1) ? " × count" : "";
  table("layers", ["layer", "count", "utilisation [%]", `cycles${times}`, ...parts.map(name => `${name} [${unit}]${times}`)],
    one.layers.map(layer => [[layer.name, layer.count, +(100 * layer.utilization).toFixed(1), layer.cycles, ...layer.energy], ""]));
}
const part = i => data.parts[i] === "leakage" ? "#bbbbbb" : i === data.compute ? "#7f7f7f" : data.palette[i % data.palette.length];
function fixed_tables() {
  at("problems_head").hidden = !data.problems.length;
  if (data.problems.length) table("problems", ["design", ...data.parameters, "workload", "mapspace", "seed", "status", "message"],
    data.problems.map(one => [[one.design, ...data.parameters.map(name => one.values[name]), one.workload, one.mapspace, one.seed, one.status, one.message], ""]));
}
