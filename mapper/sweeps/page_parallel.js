// parallel coordinates of all parameters and figures, and the y axis by the values of each parameter
const TOP = 46, BOTTOM = 12, SIDE = 60, REACH = 14;  // pixels; how far from an axis the mouse takes hold of it
const lane_x = (i, width) => lanes.length < 2 ? width / 2 : SIDE + i * (width - 2 * SIDE) / (lanes.length - 1);
const lane_y = (share, height) => height - BOTTOM - share * (height - TOP - BOTTOM);
const cut = (text, width) => { const most = Math.max(4, Math.floor(width / 6.4)); return text.length > most ? text.slice(0, most - 1) + "…" : text; };

function canvas_of(canvas, width = canvas.clientWidth, height = canvas.clientHeight) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [pen, width, height];
}
const line_points = (one, width, height) => lanes.map((lane, i) => [lane_x(i, width), lane_y(along(lane, lane.of(one)), height)]);
function trace(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y));
  pen.stroke();
}
// those that are seen least first: not selected, others, the frontier
const rank = one => brushes.size ? picked(one) ? 2 : 0 : one.front ? 2 : 1;
const ranked = () => shown().map(one => [rank(one), one]).sort((a, b) => a[0] - b[0]);

// all lines in grey, behind those that are selected: made once for a filter, as a selection changes with the mouse
let behind = null;
function draw_behind() {
  behind = document.createElement("canvas");
  const {clientWidth, clientHeight} = at("parallel"), [pen, width, height] = canvas_of(behind, clientWidth, clientHeight), own = shown();
  pen.strokeStyle = "#999";
  pen.globalAlpha = Math.max(0.05, Math.min(0.25, 20 / own.length));
  own.forEach(one => trace(pen, line_points(one, width, height)));
}
function draw_lines() {
  const [pen, width, height] = canvas_of(at("parallel").querySelector("canvas")), own = ranked();
  if (brushes.size) {
    if (!behind) draw_behind();
    pen.drawImage(behind, 0, 0, width, height);
  }
  const pale = Math.max(0.12, Math.min(0.5, 20 / own.length));
  const strong = brushes.size ? Math.max(pale, 0.45) : 0.9;
  pen.lineJoin = "round";
  for (const [rank, one] of own) {
    if (!rank) continue;
    pen.strokeStyle = colour(one.mapspace);
    pen.globalAlpha = rank === 2 ? strong : pale;
    pen.lineWidth = rank === 2 ? 1.5 : 1;
    trace(pen, line_points(one, width, height));
  }
}
function draw_lanes() {
  const svg = at("parallel").querySelector("svg"), {clientWidth: width, clientHeight: height} = at("parallel");
  svg.replaceChildren();
  const gap = lanes.length < 2 ? width : (width - 2 * SIDE) / (lanes.length - 1), staggered = gap < 130;
  make(svg, "path", {id: "traced", fill: "none", stroke: "#000", "stroke-width": 2});
  lanes.forEach((lane, i) => {
    const x = lane_x(i, width), group = make(svg, "g");
    make(group, "line", {x1: x, x2: x, y1: TOP - 4, y2: height - BOTTOM + 4, stroke: "#666"});
    make(make(group, "text", {x, y: staggered && i % 2 ? 12 : 29, "text-anchor": "middle", class: "head"}, cut(lane.head, staggered ? 2 * gap - 10 : gap - 10)), "title", {}, lane.title);
    const ticks = lane.ticks ?? measure_ticks(lane), every = Math.ceil(ticks.length / 9);
    ticks.forEach(([coordinate, text], n) => {
      if (n % every) return;
      const y = lane_y(along(lane, coordinate), height);
      make(group, "line", {x1: x - 3, x2: x + 3, y1: y, y2: y, stroke: "#666"});
      make(group, "text", {x: x + 6, y: y + 4}, cut(text, gap - 12));
    });
    make(group, "rect", {class: "box", x: x - 9, width: 18, visibility: "hidden", "data-lane": lane.key});
    make(group, "rect", {class: "lane", x: x - REACH, y: TOP - 8, width: 2 * REACH, height: height - TOP - BOTTOM + 16, fill: "transparent"});
  });
  draw_brushes();
}
function measure_ticks(lane) {
  const {from} = lane.scale, span = [lane.low + (lane.high - lane.low) * 0.037, lane.high - (lane.high - lane.low) * 0.037];
  return [0, 0.25, 0.5, 0.75, 1].map(share => span[0] + share * (span[1] - span[0])).map(coordinate => [coordinate, tick(+from(coordinate).toPrecision(3))]);
}
function draw_brushes() {
  const {clientHeight: height} = at("parallel");
  for (const box of at("parallel").querySelectorAll("rect.box")) {
    const lane = lane_of(box.dataset.lane), own = brushes.get(lane.key);
    box.setAttribute("visibility", own ? "visible" : "hidden");
    if (!own) continue;
    const [bottom, top] = own.map(coordinate => lane_y(Math.max(0, Math.min(1, along(lane, coordinate))), height));
    box.setAttribute("y", top);
    box.setAttribute("height", Math.max(1, bottom - top));
  }
}
// the line of the design under the mouse, or else of the chosen one
function paint_hovered() {
  const one = hovered ?? chosen, {clientWidth: width, clientHeight: height} = at("parallel"), path = at("traced");
  if (path) path.setAttribute("d", one && one.workload === workload && kept(one) ? "M" + line_points(one, width, height).map(point => point.join(" ")).join("L") : "");
}
// the design whose line is nearest to a place, within a few pixels
function line_at(x, y) {
  const {clientWidth: width, clientHeight: height} = at("parallel");
  const i = lanes.findIndex((_, i) => i + 1 < lanes.length && x >= lane_x(i, width) && x <= lane_x(i + 1, width));
  if (i < 0) return null;
  const share = (x - lane_x(i, width)) / (lane_x(i + 1, width) - lane_x(i, width));
  let near = null, best = 6;
  for (const one of shown()) {
    if (brushes.size && !picked(one)) continue;
    const [before, after] = [lanes[i], lanes[i + 1]].map(lane => lane_y(along(lane, lane.of(one)), height));
    const far = Math.abs(before + share * (after - before) - y);
    if (far < best) [near, best] = [one, far];
  }
  return near;
}
const within = event => { const box = at("parallel").getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
const lane_at = x => lanes.find((_, i) => Math.abs(x - lane_x(i, at("parallel").clientWidth)) <= REACH);
const coordinate_at = (lane, y) => {
  const height = at("parallel").clientHeight, share = (height - BOTTOM - y) / (height - TOP - BOTTOM);
  return lane.low + Math.max(0, Math.min(1, share)) * (lane.high - lane.low);
};

// a panel per parameter: the y axis of the plot by its values
function draw_strips() {
  const designs = data.designs.filter(one => one.workload === workload), own = ranked();
  const scale = scaled(1), figures = designs.map(one => scale.to(middle(one, 1))), low = least(figures), high = most(figures);
  const y_of = (one, height) => height - 24 - (scale.to(middle(one, 1)) - low) / (high - low || 1) * (height - 36);
  varied.forEach((parameter, i) => {
    const [pen, width, height] = canvas_of(at("strips").children[i].querySelector("canvas"));
    const step = (width - 66) / parameter.values.length, x_of = at => 60 + (at + 0.5) * step;
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = "#333";
    pen.textAlign = "right";
    for (const [value, y] of [[low, height - 24], [high, 12]]) pen.fillText(tick(+scale.from(value).toPrecision(3)), 52, y + 4);
    pen.textAlign = "center";
    const widest = most(parameter.values.map(value => value_text(value).length)) * 6.4 + 6;
    const every = parameter.numeric ? Math.ceil(widest / step) : 1;
    parameter.values.forEach((value, at) => { if (at % every === 0) pen.fillText(cut(value_text(value), every * step + 6), x_of(at), height - 6); });
    pen.fillStyle = "#f6f6f6";
    parameter.values.forEach((_, at) => { if (at % 2 === 0) pen.fillRect(x_of(at) - step / 2, 4, step, height - 22); });
    for (const [rank, one] of own) {
      const jitter = ((one.design * 37 + number(one.mapspace) * 17) % 101 / 101 - 0.5) * Math.min(step * 0.6, 26);
      pen.fillStyle = rank ? colour(one.mapspace) : "#999";
      pen.globalAlpha = [0.15, 0.4, brushes.size ? 0.8 : 1][rank];
      pen.beginPath();
      pen.arc(x_of(parameter.place.get(one)) + jitter, y_of(one, height), one === chosen ? 4.5 : 2.6, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = "#000";
    pen.lineWidth = 1.2;
    const least_of = parameter.values.map((_, at) => least(own.filter(([, one]) => parameter.place.get(one) === at).map(([, one]) => -y_of(one, height) + height)));
    parameter.values.forEach((_, at) => {
      if (!Number.isFinite(least_of[at])) return;
      const y = height - least_of[at], end = x_of(at) + step * 0.42;
      trace(pen, [[x_of(at) - step * 0.42, y], [end, y]]);
    });
    const own_brush = brushes.get(`parameter ${i}`);
    if (own_brush) {
      pen.strokeStyle = "#0072b2";
      pen.setLineDash([4, 3]);
      const from = Math.max(0, Math.ceil(own_brush[0])), to = Math.min(parameter.values.length - 1, Math.floor(own_brush[1]));
      if (from <= to) pen.strokeRect(x_of(from) - step / 2, 3, (to - from + 1) * step, height - 20);
      pen.setLineDash([]);
    }
  });
}
function value_at(event, parameter) {
  const box = event.currentTarget.getBoundingClientRect();
  return Math.floor((event.clientX - box.left - 60) / ((box.width - 66) / parameter.values.length));
}
function draw_linked() { behind = null; draw_lines(); draw_lanes(); paint_hovered(); draw_strips(); }
