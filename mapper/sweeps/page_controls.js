// what the user does: filters, selections, the mouse; and the first picture
at("title").textContent = document.title = data.sweep;
at("counts").textContent = data.counts;
at("once").textContent = data.once.join("; ");
at("pages").textContent = data.pages;
for (const name of data.workloads) make(at("workload"), "option", {value: name}, name);
at("workload").onchange = event => {
  workload = event.target.value;
  chosen = hovered = null;
  for (const key of [...brushes.keys()]) if (key.startsWith("measure")) brushes.delete(key);  // of other figures
  refresh();
};
data.mapspaces.forEach((mapspace, i) => {
  const label = make(at("mapspaces"), "label");
  const box = make(label, "input", {type: "checkbox", checked: "", value: mapspace});
  mark(make(label, "svg", {width: 18, height: 16, viewBox: "0 0 18 16"}), i, 9, 8, 5, {fill: colour(mapspace)});
  make(label, "span", {}, `${mapspace} `);
  box.onchange = () => { box.checked ? hidden.delete(mapspace) : hidden.add(mapspace); refilter(); };
});

// filters: two handles on the listed values of a number, a box for each other value
function range(parent, parameter, last) {
  const text = make(make(parent, "legend", {title: parameter.name}, `${parameter.short}: `), "b");
  const box = make(parent, "div", {class: "range"}), between = make(box, "i");
  const handles = ["at least", "at most"].map((word, end) => make(box, "input", {type: "range", min: 0, max: last, step: 1, value: end * last, "aria-label": `${parameter.name} ${word}`}));
  const write = () => {
    const [from, to] = handles.map(handle => Number(handle.value));
    parameter.kept = parameter.values.map((_, at) => at >= from && at <= to);
    text.textContent = from === to ? tick(parameter.values[from]) : `${tick(parameter.values[from])} to ${tick(parameter.values[to])}`;
    between.style.left = `${from / last * 100}%`;
    between.style.right = `${(1 - to / last) * 100}%`;
    handles.forEach((handle, end) => {
      handle.setAttribute("aria-valuetext", value_text(parameter.values[[from, to][end]]));
      handle.style.zIndex = end === (from === last ? 0 : 1) ? 2 : 1;  // the one that can still move is above
    });
  };
  handles.forEach((handle, end) => {
    handle.oninput = () => {
      const [from, to] = handles.map(own => Number(own.value));
      if (from > to) handle.value = end ? from : to;  // handles do not pass each other
      write();
      refilter(false);
    };
    handle.onchange = () => tables();  // once it is let go
  });
  write();
  return () => { handles.forEach((handle, end) => { handle.value = end * last; }); write(); };
}
function choices(parent, parameter) {
  make(parent, "legend", {title: parameter.name}, parameter.short);
  const list = make(parent, "div", {class: "choices"});
  const boxes = parameter.values.map((value, i) => {
    const label = make(list, "label"), box = make(label, "input", {type: "checkbox", checked: ""});
    make(label, "span", {}, ` ${value_text(value)}`);
    box.onchange = () => { parameter.kept[i] = box.checked; refilter(); };
    return box;
  });
  return () => { boxes.forEach(box => { box.checked = true; }); parameter.kept.fill(true); };
}
const resets = varied.map(parameter => {
  const parent = make(at("filters"), "fieldset");
  return parameter.numeric ? range(parent, parameter, parameter.values.length - 1) : choices(parent, parameter);
});
at("all").onclick = () => { resets.forEach(reset => reset()); refilter(); };
at("filter").hidden = at("by").hidden = !varied.length;
varied.forEach((parameter, i) => {
  const figure = make(at("strips"), "figure");
  make(figure, "figcaption", {title: parameter.name}, parameter.short);
  make(figure, "canvas", {role: "img", "aria-label": `by ${parameter.name}`}).onclick = event => {
    const value = value_at(event, parameter), key = `parameter ${i}`, own = brushes.get(key);
    if (value < 0 || value >= parameter.values.length) return;
    own && own[0] === value - 0.4 && own[1] === value + 0.4 ? brush(key, null) : brush(key, value - 0.4, value + 0.4);
    rebrush();
  };
});

function count() {
  const designs = data.designs.filter(one => one.workload === workload), number_of = own => new Set(own.map(one => one.design)).size.toLocaleString("en");
  const unsearched = data.unsearched.marks.length ? `, ${number_of(data.unsearched.marks.filter(kept))} of ${number_of(data.unsearched.marks)} not searched` : "";
  at("left").textContent = `${number_of(shown())} of ${number_of(designs)} designs shown${unsearched}`;
  at("all").disabled = !filtered();
  at("of_all").hidden = !filtered();
  at("clear").disabled = !brushes.size;
  at("picked").textContent = brushes.size ? `${number_of(shown().filter(picked))} designs selected` : "";
}
function refilter(table = true) { draw(); draw_linked(); count(); legend(); if (table) tables(); }
function rebrush(table = true) { paint(); draw_lines(); draw_brushes(); paint_hovered(); draw_strips(); count(); if (table) points_table(); }
function clear_brushes() { brushes.clear(); rebrush(); }
at("clear").onclick = clear_brushes;
addEventListener("keydown", event => { if (event.key === "Escape" && brushes.size) clear_brushes(); });
at("bounds").onchange = () => { view = whole(); refilter(); };

// the mouse in the plot: over a mark, or near a bound; drags that move it, or select
const bound_at = event => {
  const [x, y] = place(event), near = bound => Math.hypot(bound.x - x, bound.y - y);
  const best = bound_places.reduce((a, b) => a && near(a) <= near(b) ? a : b, null);
  return best && near(best) < 7 ? best : null;
};
at("plot").addEventListener("mousemove", event => {
  const one = owners.get(event.target), bound = one ? null : bound_at(event);
  hover(one ?? null, one ? design_text(one) : bound && bound_text(bound), event.clientX, event.clientY);
});
at("plot").addEventListener("mouseleave", () => hover(null));
at("plot").addEventListener("focusin", event => {
  const one = owners.get(event.target), box = event.target.getBoundingClientRect();
  if (one) hover(one, design_text(one), box.right, box.bottom);
});
at("plot").addEventListener("focusout", () => hover(null));
at("plot").addEventListener("click", event => { const one = owners.get(event.target); if (one) choose(one); });
at("plot").addEventListener("keydown", event => { const one = owners.get(event.target); if (one && event.key === "Enter") choose(one); });
at("plot").addEventListener("wheel", event => { event.preventDefault(); if (!grip) zoom(event.deltaY < 0 ? 0.8 : 1.25, ...share(event)); }, {passive: false});
let grip = null;
const selecting = event => event.shiftKey || at("select").getAttribute("aria-pressed") === "true";
const coordinates = (event, old = view) => share(event).map((own, side) => old[side][0] + Math.max(0, Math.min(1, own)) * (old[side][1] - old[side][0]));
at("plot").addEventListener("pointerdown", event => {
  if (event.button) return;
  grip = {from: share(event), view, start: selecting(event) ? coordinates(event) : null};
  if (grip.start) event.preventDefault();  // no text is marked
});
at("parallel").addEventListener("pointerdown", event => {
  const [x, y] = within(event), lane = event.button ? null : lane_at(x);
  if (!lane) return;
  event.preventDefault();
  grip = {lane, start: coordinate_at(lane, y), y, moved: false};
});
addEventListener("pointermove", event => {
  if (!grip) return;
  if (grip.lane) {
    const [, y] = within(event);
    grip.moved ||= Math.abs(y - grip.y) > 3;
    if (!grip.moved) return;
    brush(grip.lane.key, grip.start, coordinate_at(grip.lane, y));
    return rebrush(false);
  }
  const now = share(event), moved = now.map((own, side) => own - grip.from[side]);
  if (!grip.moved && Math.hypot(...moved) < 0.005) return;
  grip.moved = true;
  if (grip.start) {
    const end = coordinates(event);
    drawn.forEach((axis, side) => brush(`measure ${data.drawn[axis]}`, grip.start[side], end[side]));
    return rebrush(false);
  }
  drag_to(grip.view.map(([low, high], side) => [low - moved[side] * (high - low), high - moved[side] * (high - low)]), grip.view);
});
addEventListener("pointerup", () => {
  const own = grip;
  grip = null;
  if (!own) return;
  if (own.lane && !own.moved) brush(own.lane.key, null);
  if (own.start && !own.moved && !own.lane) drawn.forEach(axis => brush(`measure ${data.drawn[axis]}`, null));
  if (own.lane || own.start) rebrush();
  else if (own.moved) draw();
});
addEventListener("pointercancel", () => { grip = null; });
at("parallel").addEventListener("mousemove", event => {
  const [x, y] = within(event), one = grip || lane_at(x) ? null : line_at(x, y);
  hover(one, one && design_text(one), event.clientX, event.clientY);
});
at("parallel").addEventListener("mouseleave", () => hover(null));
at("parallel").addEventListener("click", event => { const [x, y] = within(event), one = lane_at(x) ? null : line_at(x, y); if (one) choose(one); });
at("in").onclick = () => zoom(0.7);
at("out").onclick = () => zoom(1 / 0.7);
at("reset").onclick = () => { view = whole(); draw(); };
at("select").onclick = () => {
  const on = at("select").getAttribute("aria-pressed") !== "true";
  at("select").setAttribute("aria-pressed", on);
  at("plot").classList.toggle("selecting", on);
};
addEventListener("resize", () => { if (view) draw_linked(); });

// a frontier of three axes: which two are seen, and what the third does to the picture
function legend() {
  const rest = data.axes.filter((_, axis) => !drawn.includes(axis)).map(axis => axis.name);
  const lines = filtered() ? "Full marks: the frontier of each mapspace; thin lines: that of the designs which the filter leaves" : "Full marks and lines: the frontier of each mapspace";
  at("legend").textContent = "Less is better on both axes. " + (rest.length
    ? `The frontier is of all ${data.axes.length} axes; ${rest} is not drawn, so designs on it may look beaten here. Full marks: the frontier of each mapspace`
    : lines);
  const bounds = bound_places.length > 0, {more, without} = data.unsearched;
  at("legend_bounds").hidden = !bounds;
  at("legend_bounds").textContent = `; grey dashes: designs that were not searched, at what no mapping of theirs is below`;
  at("unsearched_note").textContent = [more ? `${more.toLocaleString("en")} more are left out, which are farthest from changing the answer.` : "",
    without ? `Of ${without.toLocaleString("en")} more nothing is proven yet.` : ""].join(" ").trim();
}
at("equal").hidden = data.mapspaces.length < 2;
at("axes").hidden = data.axes.length < 3;
at("bounds_of").hidden = !data.unsearched.marks.length;
["x", "y"].forEach((id, side) => {
  data.axes.forEach((axis, i) => make(at(id), "option", {value: i}, axis.name));
  at(id).value = drawn[side];
  at(id).onchange = event => {
    const axis = Number(event.target.value);
    if (drawn[1 - side] === axis) drawn[1 - side] = drawn[side];  // never one axis twice: they change places
    drawn[side] = axis;
    ["x", "y"].forEach((other, i) => { at(other).value = drawn[i]; });
    view = whole();
    refilter();
  };
});
function refresh() {
  lanes = lanes_of(data.designs.filter(one => one.workload === workload));
  view = whole();
  refilter();
  const knee = shown().find(one => one.knee);
  if (knee) choose(knee);
}
if (data.designs.length) refresh();
fixed_tables();
