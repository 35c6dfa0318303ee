// the scatter: designs on two axes, with zoom, a rectangle that selects, and bounds of designs that were not searched
const W = 1000, H = 440, M = {left: 84, right: 18, top: 14, bottom: 52};
const middle = (one, side) => one.middle[drawn[side]], low = (one, side) => one.low[drawn[side]], high = (one, side) => one.high[drawn[side]];
const scaled = side => scales[drawn[side]];
let owners = new Map(), nodes = new Map(), bound_places = [];

function whole() {
  const designs = data.designs.filter(one => one.workload === workload), bounds = bounds_shown();
  return [0, 1].map(side => {
    const beside = bounds.map(bound => scaled(side).to(bound.figures[side])).filter(Number.isFinite);
    const from = least([...designs.map(one => scaled(side).to(low(one, side))), ...beside]);
    const to = most([...designs.map(one => scaled(side).to(high(one, side))), ...beside]);
    const margin = (to - from || 1) * 0.07;
    return [from - margin, to + margin];
  });
}
const spot_of = (side, coordinate) => {
  const [low, high] = view[side], share = (coordinate - low) / (high - low);
  return side ? H - M.bottom - share * (H - M.top - M.bottom) : M.left + share * (W - M.left - M.right);
};
const spot = (side, value) => spot_of(side, scaled(side).to(value));
function ticks(side) {
  const [low, high] = view[side].map(scaled(side).from), values = [];
  if (scaled(side).to === Math.log10 && high / low > 8) {
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      for (const digit of high / low > 2000 ? [1] : high / low > 60 ? [1, 3] : [1, 2, 5]) values.push(digit * 10 ** power);
  } else {
    const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(digit => digit * power >= rough);
    for (let n = Math.ceil(low / step); n * step <= high; n++) values.push(n * step);
  }
  return values.filter(value => value >= low && value <= high);
}
function mark(parent, number, x, y, size, attributes) {
  const s = size, shapes = [
    () => ["circle", {cx: x, cy: y, r: s}],
    () => ["rect", {x: x - s * .9, y: y - s * .9, width: s * 1.8, height: s * 1.8}],
    () => ["path", {d: `M${x} ${y - s * 1.3}l${s * 1.3} ${s * 1.3}l${-s * 1.3} ${s * 1.3}l${-s * 1.3} ${-s * 1.3}z`}],
    () => ["path", {d: `M${x} ${y - s * 1.2}l${s * 1.2} ${s * 2.2}h${-s * 2.4}z`}],
    () => ["path", {d: `M${x} ${y + s * 1.2}l${s * 1.2} ${-s * 2.2}h${-s * 2.4}z`}],
  ];
  const [tag, own] = shapes[number % shapes.length]();
  return make(parent, tag, {...own, ...attributes});
}
// smaller for each mapspace, drawn in this order: where designs are equal, every mark is seen
const wider = mapspace => (data.mapspaces.length - 1 - number(mapspace)) * Math.min(2, 6 / data.mapspaces.length);

function draw() {
  const plot = at("plot");
  plot.replaceChildren();
  owners = new Map(); nodes = new Map();
  at("tip").hidden = true;  // its mark is gone
  make(make(make(plot, "defs"), "clipPath", {id: "inside"}), "rect",
    {x: M.left, y: M.top, width: W - M.left - M.right, height: H - M.top - M.bottom});
  grid(make(plot, "g", {id: "grid"}));
  const heads = drawn.map(axis => `${data.axes[axis].name} [${data.axes[axis].unit}]`);
  make(plot, "text", {x: (W + M.left) / 2, y: H - 8, "text-anchor": "middle"}, heads[0]);
  make(plot, "text", {x: 14, y: (H - M.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(H - M.bottom) / 2})`}, heads[1]);
  const inside = make(make(plot, "g", {"clip-path": "url(#inside)"}), "g", {id: "marks"}), designs = shown();
  bounds_of(inside);
  data.mapspaces.forEach(mapspace => line(inside, designs, mapspace));
  designs.sort((a, b) => a.front - b.front || number(a.mapspace) - number(b.mapspace)).forEach(one => point(inside, one));
  labels(inside, designs);
  make(inside, "rect", {id: "box", class: "box", visibility: "hidden"});
  paint();
}
function grid(parent) {
  for (const axis of [0, 1]) for (const value of ticks(axis)) {
    const place = spot(axis, value);
    make(parent, "line", axis ? {x1: M.left, x2: W - M.right, y1: place, y2: place, stroke: "#e6e6e6"}
      : {x1: place, x2: place, y1: M.top, y2: H - M.bottom, stroke: "#e6e6e6"});
    make(parent, "text", axis ? {x: M.left - 8, y: place + 4, "text-anchor": "end"}
      : {x: place, y: H - M.bottom + 18, "text-anchor": "middle"}, tick(value));
  }
}
// while it is dragged: the marks move as one, and are drawn anew at the end
function drag_to(wanted, from) {
  const shift = wanted.map(([low, high], side) => (from[side][0] - low) / (high - low) * (side ? -(H - M.top - M.bottom) : W - M.left - M.right));
  view = wanted;
  at("marks").setAttribute("transform", `translate(${shift.join(" ")})`);
  at("grid").replaceChildren();
  grid(at("grid"));
}
function line(inside, designs, mapspace) {
  if (data.axes.length > 2) return;  // two axes: x is the first
  const own = designs.filter(one => one.mapspace === mapspace);
  const members = (filtered() ? frontier_of(own) : own.filter(one => one.front)).sort((a, b) => a.middle[0] - b.middle[0]);
  const path = members.map((one, i) => `${i ? "H" : "M"}${spot(0, one.middle[0])}${i ? "V" : " "}${spot(1, one.middle[1])}`).join("");
  if (!path) return;
  const dash = ["", "7 4", "2 3", "8 3 2 3"][number(mapspace) % 4];
  make(inside, "path", {d: path, fill: "none", stroke: colour(mapspace), "stroke-width": filtered() ? 1.2 : 2, "stroke-dasharray": dash, class: "frontier"});
}
function bounds_of(inside) {
  bound_places = bounds_shown().map(bound => ({...bound, x: spot(0, bound.figures[0]), y: spot(1, bound.figures[1])}));
  if (bound_places.length) make(inside, "path", {class: "bounds", d: bound_places.map(({x, y}) => `M${x - 4.5} ${y}h9`).join("")});
}
const below = (one, side) => one.least[drawn[side]] > 0 && one.least[drawn[side]] < middle(one, side);
function point(inside, one) {
  const x = spot(0, middle(one, 0)), y = spot(1, middle(one, 1)), own = colour(one.mapspace);
  const group = nodes.set(one, []).get(one), bar = attributes => group.push(make(inside, "line", {stroke: own, ...attributes}));
  if (one.front && one.seeds > 1) {
    bar({x1: x, x2: x, y1: spot(1, low(one, 1)), y2: spot(1, high(one, 1))});
    bar({x1: spot(0, low(one, 0)), x2: spot(0, high(one, 0)), y1: y, y2: y});
  }
  const dotted = {"stroke-dasharray": "2 3"};  // down to what is proven, where it is not certified
  if (below(one, 1)) bar({x1: x, x2: x, y1: y, y2: spot(1, one.least[drawn[1]]), ...dotted});
  if (below(one, 0)) bar({x1: x, x2: spot(0, one.least[drawn[0]]), y1: y, y2: y, ...dotted});
  if (one.knee) group.push(make(inside, "circle", {cx: x, cy: y, r: 12 + wider(one.mapspace), fill: "none", stroke: "#7f7f7f", "stroke-width": 1.5}));
  const node = mark(inside, number(one.mapspace), x, y, (one.front ? 5 : 3.5) + wider(one.mapspace),
    {fill: own, opacity: one.front ? 1 : 0.35, class: "mark", tabindex: 0});
  group.push(node);
  owners.set(node, one);
}
// what is selected, chosen and under the mouse: of marks that are there already
function paint() {
  nodes.forEach((group, one) => {
    const off = brushes.size > 0 && !picked(one), on = brushes.size > 0 && !off;
    group.forEach(node => { node.classList.toggle("off", off); node.classList.toggle("picked", on); });
    const node = group[group.length - 1];
    node.classList.toggle("chosen", one === chosen);
    node.classList.toggle("hovered", one === hovered);
  });
  box_of(drawn.map(axis => brushes.get(`measure ${data.drawn[axis]}`) ?? null));
}
function box_of(sides) {
  const box = at("box"), inner = [[M.left, W - M.right], [H - M.bottom, M.top]];
  if (!box) return;
  if (sides.every(side => side === null)) { box.setAttribute("visibility", "hidden"); return; }
  const [[left, right], [bottom, top]] = sides.map((side, i) => side === null ? inner[i] : side.map(coordinate => spot_of(i, coordinate)));
  for (const [key, value] of Object.entries({visibility: "visible", x: left, y: top, width: right - left, height: bottom - top})) box.setAttribute(key, value);
}
// the values of a design beside its mark, where nothing is yet: off all marks and labels
let places = [];
const apart = (one, other) => one.x + one.w < other.x || other.x + other.w < one.x || one.y + one.h < other.y || other.y + other.h < one.y;
function label(inside, one) {
  const x = spot(0, middle(one, 0)), y = spot(1, middle(one, 1)), w = one.brief.length * 6.6 + 4, h = 14;
  for (const far of [10, 22, 38]) for (const [right, down] of [[1, 0], [0, 1], [1, 1], [0, 0]]) {
    const box = {x: right ? x + far : x - far - w, y: down ? y + far - 4 : y - far - h + 4, w, h};
    if (box.x < M.left || box.x + w > W - M.right || box.y < M.top || box.y + h > H - M.bottom || !places.every(other => apart(box, other))) continue;
    places.push(box);
    if (far > 10) make(inside, "line", {x1: x, y1: y, x2: right ? box.x : box.x + w, y2: box.y + h / 2, stroke: "#999", "stroke-width": .6});
    make(inside, "text", {x: box.x + 2, y: box.y + 11, class: "label"}, one.brief);
    return;
  }
}
function labels(inside, designs) {
  const own = new Map(designs.filter(one => one.front && one.brief).map(one => [`${middle(one, 0)} ${middle(one, 1)}`, one]));  // equal ones have one
  places = designs.map(one => ({x: spot(0, middle(one, 0)) - 6, y: spot(1, middle(one, 1)) - 6, w: 12, h: 12}));
  places.push(...bound_places.map(({x, y}) => ({x: x - 5, y: y - 2, w: 10, h: 4})));
  own.forEach(one => label(inside, one));
}
function tip(lines, x, y) {
  const box = at("tip");
  box.textContent = lines.join("\n");
  box.hidden = false;
  box.style.left = Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.offsetHeight - 8)) + "px";
}
function design_text(one) {
  const sure = one.seeds > 1 ? [`${one.seeds} seeds; on the frontier in ${Math.round(one.share * 100)} %`] : [];
  const figures = data.axes.map((axis, i) => `${axis.name} ${show(one.middle[i])} ${axis.unit}`
    + (one.seeds > 1 && one.low[i] !== one.high[i] ? ` (${show(one.low[i])} to ${show(one.high[i])})` : ""));
  return [`${one.label}; ${one.mapspace}`, ...parameters(one), ...figures, one.proof, ...sure];
}
function bound_text({one}) {
  const measure = data.measures[data.unsearched.measure], bound = one.bounds[data.unsearched.workloads.indexOf(workload)];
  return [`${one.label}; ${one.mapspace}`, ...parameters(one), `area ${show(one.area)} ${data.measures[AREA].unit}`,
    `not searched: ${data.unsearched.what} is below ${show(bound)} ${measure.unit}`, one.open ? "may still change the answer" : "proven not to change the answer"];
}
function hover(one, lines, x, y) {
  if (hovered !== one) { hovered = one; paint(); paint_hovered(); }
  if (lines) tip(lines, x, y); else at("tip").hidden = true;
}
function zoom(factor, x = 0.5, y = 0.5) {
  view = view.map(([low, high], axis) => {
    const centre = low + (high - low) * (axis ? y : x);
    return [centre - (centre - low) * factor, centre + (high - centre) * factor];
  });
  draw();
}
// where in the plot an event is, in its units, and 0 to 1 from the left and from the bottom
function place(event) {
  const box = at("plot").getBoundingClientRect(), k = W / box.width;
  return [(event.clientX - box.left) * k, (event.clientY - box.top) * k];
}
function share(event) {
  const [x, y] = place(event);
  return [(x - M.left) / (W - M.left - M.right), 1 - (y - M.top) / (H - M.top - M.bottom)];
}
