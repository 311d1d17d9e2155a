// Charts as SVG. Gaps in time are drawn as gaps; behind each chart is a table.

import {h, svg} from "./dom.js";
import {clock, short} from "./format.js";

/** Seconds between two samples beyond which nothing is known in between. */
const gap = 2.5;

/** Rates of totals: {time, received, rejected} a second; null where there is a gap. */
export function rates(samples) {
  return samples.slice(1).map((sample, place) => {
    const former = samples[place];
    const seconds = sample.time - former.time;
    if (!(seconds > 0) || seconds > gap || sample.received < former.received) return null;
    return {
      time: sample.time, received: (sample.received - former.received) / seconds,
      rejected: (sample.rejected - former.rejected) / seconds,
    };
  });
}

/** Points x,y in runs without a gap. */
function runs(points) {
  const found = [[]];
  for (const point of points) {
    if (point) found.at(-1).push(point);
    else if (found.at(-1).length) found.push([]);
  }
  return found.filter((run) => run.length);
}

const path = (run) => run.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** Readings a second over the last `span` seconds up to `end` (seconds since 1970). */
export function throughput(samples, end, span = 300) {
  const [width, height] = [600, 100];
  const known = rates(samples).map((rate) => rate && rate.time > end - span ? rate : null);
  const most = Math.max(1, ...known.map((rate) => rate?.received ?? 0));
  const x = (time) => width - (end - time) / span * width;
  const y = (value) => height - 2 - value / most * (height - 6);
  const points = (name) => runs(known.map((rate) => rate && [x(rate.time), y(rate[name])]));
  const received = points("received");
  const hasRejected = known.some((rate) => rate?.rejected > 0);
  const area = received.map((run) => `${path(run)}L${run.at(-1)[0].toFixed(1)} ${height}L${run[0][0].toFixed(1)} ${height}Z`);
  const last = known.findLast((rate) => rate);
  const label = `Readings per second over ${span / 60} minutes: ${last ? short(last.received) : "unknown"} now, `
    + `${short(most)} at most`;
  return h("figure", {},
    h("div", {class: "scale"}, h("span", {}, `${short(most)} /s`), h("span", {}, "peak of 5 min")),
    svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": label},
      svg("path", {class: "axis", d: `M0 ${height - 1}H${width}`}),
      svg("path", {class: "area", d: area.join("")}),
      svg("path", {class: "line", d: received.map(path).join("")}),
      hasRejected && svg("path", {class: "line rejected", d: points("rejected").map(path).join("")})),
    h("div", {class: "scale"}, h("span", {}, clock(new Date((end - span) * 1000))), h("span", {}, clock(new Date(end * 1000)))));
}

/** The same as a table: means of ten seconds, the newest first. */
export function throughputTable(samples) {
  const steps = new Map();
  for (const rate of rates(samples)) {
    if (!rate) continue;
    const step = Math.floor(rate.time / 10) * 10;
    const sum = steps.get(step) ?? {received: 0, rejected: 0, count: 0};
    steps.set(step, {
      received: sum.received + rate.received, rejected: sum.rejected + rate.rejected, count: sum.count + 1,
    });
  }
  const rows = [...steps].reverse().map(([step, sum]) => h("tr", {},
    h("td", {}, clock(new Date(step * 1000))), h("td", {class: "number"}, short(sum.received / sum.count)),
    h("td", {class: "number"}, short(sum.rejected / sum.count))));
  return h("div", {class: "table", tabindex: "0", role: "region", "aria-label": "Readings per second as a table"},
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "From (UTC)"),
      h("th", {scope: "col", class: "number"}, "Received /s"), h("th", {scope: "col", class: "number"}, "Rejected /s"))),
      h("tbody", {}, rows)));
}
