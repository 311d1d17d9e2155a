// Timeline: a bucket leads to its windows, a window to its Observation and readings.

import {enter, h, isByKey, svg, replace, quoted, visible} from "../dom.js";
import {get, post} from "../api.js";
import {View} from "../view.js";
import {mayOperate} from "../app.js";
import {count, counted, time} from "../format.js";
import {card, choices, chooser, iso, newest, number, row, soft, steps, sum, table, told, useStyles} from "./subject.js";

const buckets = [
  ["1s", "1 s", 600], ["1min", "1 min", 14400], ["1h", "1 h", 604800], ["1d", "1 day", 5184000],
  ["week", "Week", 31449600], ["month", "Month", 94608000], ["year", "Year", 315360000],
];
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

export default {
  async open(context) {
    useStyles();
    await new TimelinePage(context).load();
  },
};

class TimelinePage {
  constructor(context) {
    Object.assign(this, context);
    this.detail = h("aside", {class: "sticky", "aria-label": "Chosen bucket"});
    this.detailView = new View(this.detail);
  }

  get bucket() { return buckets.find(([name]) => name === this.params.get("bucket")) ?? buckets[2]; }
  get zone() { return this.params.get("zone") ?? "UTC"; }

  change(values) { this.go("timeline", {...Object.fromEntries(this.params), at: "", series: "", ...values}); }

  async load() {
    const {node, subject, isEmpty} = await chooser({...this, change: (values) => this.change({...values, to: ""})});
    if (isEmpty) return this.view.empty("No readings yet", "When sources bring readings, they are shown here by device and patient.");
    if (!subject) return this.view.initial("Whose readings?",
      "Choose a device from the list, or find one by its identifier or that of a patient.", node);
    this.subject = subject;
    this.head = h("div");
    this.charted = h("div", {class: "content"});
    const newer = !this.params.get("to") && newest({signal: this.signal, isBusy: () => this.isBusy, load: () => this.fill(true)});
    await this.fill();
    this.view.loaded(node, this.head, newer, h("div", {class: "split aside"}, this.charted, this.detail));
    this.detailView.initial("No bucket chosen", "Choose a bucket in a chart, or a row of its table, to see its windows.");
    this.tellCut();
    const chosen = this.data.series.find((series) => String(series.number) === this.params.get("series"));
    const place = this.data.boundaries.indexOf(Number(this.params.get("at")));
    if (chosen && place >= 0 && place < this.data.boundaries.length - 1) await this.choose(chosen, place);
  }

  // Whether what is there must not change by itself: something of it is chosen, opened, pointed at or focused.
  get isBusy() {
    return Boolean(this.params.get("at")) || this.charted.contains(document.activeElement)
      || this.charted.querySelector("details[open], .buckets svg:hover") !== null;
  }

  // Loads the charts; again, where there may be newer readings, and what is chosen stays.
  async fill(isAgain = false) {
    if (isAgain) this.subject = (await get("subjects/chosen", {of: this.subject.series}, this.signal)).subjects[0] ?? this.subject;
    this.to = Number(this.params.get("to")) || this.newest(this.subject);
    this.from = this.to - this.bucket[2];
    this.data = await get("timeline", {of: this.subject.series, by: this.params.get("by"), bucket: this.bucket[0],
      zone: this.zone, from: this.from, to: this.to}, this.signal);
    this.charts = this.data.series.map((series) => new SeriesChart(series, this.data, this.zone,
      (place, key) => this.choose(series, place, key)));
    replace(this.head, this.controls());
    replace(this.charted, this.content());
    if (!isAgain) return;
    this.view.fresh();
    this.tellCut();
    const place = this.data.boundaries.indexOf(Number(this.params.get("at")));
    const chart = this.charts.find((one) => String(one.series.number) === this.params.get("series"));
    if (place >= 0) chart?.mark(place);
  }

  tellCut() {
    const cut = this.data.partial.filter((what) => what !== "letters");
    if (cut.length) this.view.partial(`There is more than one answer holds: ${cut.join(" and ")} are cut off. Choose a shorter span.`);
  }

  newest(subject) {
    const now = Math.ceil(Date.now() / 1000);
    const last = subject.latest ? Math.ceil(Date.parse(subject.latest) / 1000) + 1 : now;
    return now - last < this.bucket[2] ? now : last;
  }

  controls() {
    const span = this.bucket[2];
    const at = Number(this.params.get("at"));
    const middle = at || this.params.get("to") && this.to - span / 2;
    const zones = [...new Set(["UTC", own, this.zone])];
    const zone = h("select", {id: "zone", "data-key": "zone", onchange: () => this.change({zone: zone.value})},
      zones.map((name) => h("option", {value: name, selected: name === this.zone}, name)));
    return h("div", {class: "card controls"}, h("div", {class: "row"},
      choices("bucket", "Length of buckets", this.bucket[0], buckets.map(([name, text]) => [name, text]), (bucket) => {
        const length = buckets.find(([name]) => name === bucket)[2];
        this.change({bucket, to: !middle ? "" : length < span ? Math.round(middle + length / 2) : this.to});
      }),
      steps(this.from, this.to, (values) => this.change(values)),
      h("label", {class: "field"}, h("span", {}, "Clock"), zone)));
  }

  content() {
    const {series, boundaries, letters} = this.data;
    const rejected = series.reduce((all, one) => all + sum(one.rejectedHours.map((hour) => hour.count)), 0);
    const missing = series.reduce((all, one) => all + sum(one.missing), 0);
    const fact = (text, number, kind) => h("div", {}, h("dt", {}, text), h("dd", {class: kind}, count(number)));
    return [
      card(`${label(boundaries[0], "1min", this.zone)} to ${label(boundaries.at(-1), "1min", this.zone)}`, h("dl", {class: "facts"},
          fact("accepted", series.reduce((all, one) => all + sum(one.accepted), 0), "accepted"),
          fact("missing", missing, missing ? "missing" : null), fact("rejected", rejected, rejected ? "rejected" : null),
          fact("amended windows", series.reduce((all, one) => all + sum(one.amended), 0), "amended")),
        h("p", {class: "legend"},
          [["", "accepted"], ["lack", "missing, by the rhythm of the series"], ["no", "rejected"], ["mark", "window amended"],
            ["none", "empty"]].map(([kind, text]) => h("span", {}, h("i", {class: `swatch ${kind}`}), text)))),
      series.length === 0 && h("div", {class: "message"}, h("h2", {}, "No readings of this kind")),
      this.charts.map((chart) => chart.node),
      card("Dead letters that came in this span", this.letters(letters)),
    ];
  }

  letters(letters) {
    if (letters.length === 0) return h("p", {class: "soft"}, "None.");
    return [
      table("Dead letters of the span", ["Letter", "Received (UTC)", "Reason", "From"], letters.slice(0, 20).map((letter) =>
        row(h("a", {href: `#/letters?letter=${letter.number}`}, letter.number), time(letter.at), letter.reason, quoted(letter.source)))),
      soft(letters.length > 20 || this.data.partial.includes("letters")
        ? "The first 20 are shown. " : "", "They are those of all devices: of most letters it is not known whose they are. ",
      h("a", {href: "#/letters"}, "All dead letters")),
    ];
  }

  // Shows what a bucket has; and goes there where the element called `key` was used by a key.
  async choose(series, place, key) {
    const from = this.data.boundaries[place];
    const to = this.data.boundaries[place + 1];
    this.params.set("series", series.number);
    this.params.set("at", from);
    this.go("timeline", Object.fromEntries(this.params), {quiet: true});
    for (const chart of this.charts) chart.mark(chart.series === series ? place : -1);
    this.detailView.loading();
    try {
      const {windows, isPartial} = await get("timeline/windows",
        {series: series.number, from, to}, this.signal);
      this.window = h("div", {class: "content"});
      const counts = [["accepted", series.accepted[place]], ["missing", series.missing[place]],
        ["rejected", series.rejected[place]]];
      this.detailView.loaded(card(`${series.type}, ${label(from, this.bucket[0], this.zone)}`, h("dl", {class: "facts"}, counts.map(([name, number]) => h("div", {}, h("dt", {}, name), h("dd", {class: number ? name : null}, count(number))))),
        series.dropped[place] > 0 && h("p", {class: "soft"}, `${counted(series.dropped[place], "reading")} are older than the archive keeps.`)),
      card(counted(windows.length, "window"), this.windows(windows), isPartial && h("p", {class: "soft"},
        "There are more: choose shorter buckets.")), this.window);
      if (key) enter(this.detail, key);
      if (windows.length === 1) await this.openWindow(windows[0].id);
    } catch (error) {
      if (error.name !== "AbortError") this.detailView.error(error, () => this.choose(series, place, key));
    }
  }

  windows(windows) {
    if (windows.length === 0) return h("p", {class: "soft"}, "None is closed. Readings that came may be in an open window.");
    return table("Windows", ["Start (UTC)", "#Readings", "#Written"], windows.map((window) => row(
      [h("button", {class: "quiet", "data-key": `window ${window.id}`, onclick: () => this.openWindow(window.id)}, time(window.start)),
        window.isAmended && h("span", {class: "tag amended"}, "◆ amended")],
      number(count(window.readings)), number(counted(window.revision, "time")))));
  }

  async openWindow(id, isRevealed = false) {
    this.opened = id;
    const shown = await (isRevealed ? post("timeline/reveal", {id}, this.signal)
      : get("timeline/window", {id}, this.signal)).catch(told(this.window));
    // Another one was opened meanwhile.
    if (!shown || this.opened !== id) return;
    const payloads = h("div", {role: "status"});
    replace(this.window, h("div", {class: "card"},
      h("div", {class: "row spread"}, h("h2", {}, counted(shown.observations.length, "Observation")),
        mayOperate(this.session) && h("span", {},
          !isRevealed && h("button", {class: "quiet", "data-key": "reveal window",
            onclick: () => this.openWindow(id, true)}, "Reveal identifiers"),
          h("button", {class: "quiet", "data-key": "payloads", onclick: () => this.openPayloads(id, payloads)},
            "Reveal payloads"))),
      shown.isDamaged && h("p", {class: "problem"}, "The readings of this window are damaged."),
      shown.observations.length === 0 && h("p", {class: "soft"}, "No mapping in use writes one."),
      shown.observations.slice(0, 20).map((observation) => h("pre", {tabindex: "0"}, visible(JSON.stringify(observation, null, 2))))),
    payloads,
    card(`${counted(shown.readings.length, "reading")}${shown.isPartial ? " of more" : ""}`, this.readings(shown.readings)));
  }

  // What the readings of a window were made of, as it came: the log says that somebody has looked.
  async openPayloads(id, node) {
    const shown = await post("timeline/payloads", {id}, this.signal).catch(told(node));
    if (!shown) return;
    const head = (one) => `${time(one.received)} UTC by `;
    replace(node, card(counted(shown.payloads.length, "payload as it came", "payloads as they came"),
      !shown.isKept && h("p", {class: "soft"}, "This instance keeps none: the setting store.keepRaw says for how long it does."),
      shown.isKept && shown.payloads.length === 0 && h("p", {class: "soft"}, "None is kept of this window: they came before the setting, or are older than it says."),
      shown.isDamaged && h("p", {class: "problem"}, "Some are damaged, and left out."),
      shown.isPartial && h("p", {class: "soft small"}, "There are more: kymo query --raw has all."),
      shown.payloads.map((one) => [h("h3", {}, head(one), quoted(one.source), `: ${counted(one.readings, "reading")} of this window`),
        h("pre", {tabindex: "0", dir: "ltr", "data-part": "payload"}, one.text !== undefined ? visible(one.text) : one.hex),
        one.isCut && h("p", {class: "soft small"}, "The first 64 KiB are shown.")])));
  }

  readings(readings) {
    const values = (reading) => reading.Properties.map((property, place) => [place ? ", " : "", quoted(property.Name), " = ",
      quoted(property.Value)]);
    return table("Readings", ["Time (UTC)", "Values"], readings.slice(0, 300).map((reading) =>
      row(h("time", {}, reading.OccurrenceTimeUtc.replace("T", " ").replace("Z", "")), values(reading))));
  }
}

function label(seconds, bucket, zone) {
  const day = {year: "numeric", month: "short", day: "2-digit", timeZone: zone};
  const date = new Date(seconds * 1000);
  const text = (options) => new Intl.DateTimeFormat("en-GB", options).format(date);
  switch (bucket) {
  case "year": return text({year: "numeric", timeZone: zone});
  case "month": return text({year: "numeric", month: "long", timeZone: zone});
  case "week": return `week of ${text(day)}`;
  case "1d": return text({...day, weekday: "short"});
  default: return text({...day, hour: "2-digit", minute: "2-digit", second: bucket === "1s" ? "2-digit" : undefined});
  }
}

class SeriesChart {
  constructor(series, {boundaries, bucket, zone}, zoneName, choose) {
    Object.assign(this, {series, boundaries, bucket, zone: zoneName, choose, place: -1});
    const rhythm = series.intervalMilliseconds ? `a reading every ${series.intervalMilliseconds / 1000} s` : "no rhythm, so that nothing is known to be missing";
    this.cursor = svg("rect", {class: "cursor", y: 0, height: 100, width: 0});
    this.said = h("p", {class: "soft small", role: "status"});
    this.chart = svg("svg", {viewBox: `0 0 ${this.count} 100`, preserveAspectRatio: "none", tabindex: "0", role: "slider",
      "data-key": `chart ${series.number}`,
      "aria-label": `${series.type}: choose a bucket with the arrow keys, and Enter`, "aria-valuemin": 0,
      "aria-valuemax": this.count - 1, "aria-valuenow": 0, "aria-valuetext": this.text(0),
      onclick: (event) => this.pick(event), onkeydown: (event) => this.key(event), onmousemove: (event) => this.hover(event)},
    svg("defs", {}, svg("pattern", {id: `hatch${series.number}`, class: "hatch", width: this.count / 150, height: 6,
      patternUnits: "userSpaceOnUse"}, svg("path", {d: `M0 6L${this.count / 150} 0`})),
    svg("pattern", {id: `stripes${series.number}`, class: "stripes", width: this.count, height: 5, patternUnits: "userSpaceOnUse"},
      svg("rect", {width: this.count, height: 5}), svg("path", {d: `M0 2.5H${this.count}`}))),
    this.columns(), this.cursor);
    this.node = h("section", {class: "card series", "aria-label": series.type},
      h("div", {class: "row"}, h("h2", {}, series.type, " ", h("span", {class: "soft note"}, rhythm)),
        h("span", {class: "soft small"}, quoted(series.device), ` · ${count(sum(series.accepted))} accepted`,
          sum(series.missing) ? `, ${count(sum(series.missing))} missing` : "")),
      series.damaged > 0 && h("p", {class: "problem"}, `${counted(series.damaged, "window")} cannot be read: they are damaged.`),
      h("div", {class: "buckets"}, this.chart),
      h("div", {class: "scale"}, h("span", {}, label(boundaries[0], bucket, zoneName)), h("span", {}, label(boundaries.at(-2), bucket, zoneName))),
      this.said, this.hours(), this.table());
  }

  get count() { return this.boundaries.length - 1; }

  columns() {
    const {accepted, missing, rejected, amended} = this.series;
    const most = Math.max(1, ...accepted.map((number, place) => number + missing[place] + rejected[place]));
    const height = (number) => number / most * 86;
    const shapes = {ok: "", lack: "", no: "", mark: "", none: ""};
    for (let place = 0; place < this.count; place++) {
      let base = 98;
      const add = (kind, number) => {
        if (!number) return;
        const size = Math.max(1.5, height(number));
        shapes[kind] += `M${place + 0.06} ${(base - size).toFixed(1)}h0.88v${size.toFixed(1)}h-0.88Z`;
        base -= size;
      };
      add("ok", accepted[place]);
      add("no", rejected[place]);
      add("lack", missing[place]);
      if (base === 98) shapes.none += `M${place + 0.2} 98h0.6`;
      if (amended[place]) shapes.mark += `M${place + 0.5} 1l0.45 4.5l-0.45 4.5l-0.45 -4.5Z`;
    }
    const fill = (kind) => `url(#${kind === "no" ? "stripes" : "hatch"}${this.series.number})`;
    return Object.entries(shapes).map(([kind, d]) => d && svg("path", {class: kind, d, fill: fill(kind)}));
  }

  text(place) {
    const {accepted, missing, rejected, amended} = this.series;
    const part = (list, text) => list[place] && `${count(list[place])} ${text}`;
    const parts = [`${count(accepted[place])} accepted`, part(missing, "missing"), part(rejected, "rejected"), part(amended, "amended")];
    return `${label(this.boundaries[place], this.bucket, this.zone)}: ${parts.filter(Boolean).join(", ")}`;
  }

  mark(place) {
    this.cursor.setAttribute("x", Math.max(0, place));
    this.cursor.setAttribute("width", place < 0 ? 0 : 1);
    this.move(place);
  }

  move(place) {
    this.place = place;
    this.said.textContent = place < 0 ? "" : this.text(place);
    this.chart.setAttribute("aria-valuenow", Math.max(0, place));
    this.chart.setAttribute("aria-valuetext", this.text(Math.max(0, place)));
  }

  at(event) {
    const box = this.chart.getBoundingClientRect();
    return Math.min(this.count - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * this.count)));
  }

  hover(event) { this.said.textContent = this.text(this.at(event)); }
  pick(event) { this.choose(this.at(event)); }

  key(event) {
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity};
    if (event.key in steps) {
      const place = Math.min(this.count - 1, Math.max(0, (this.place < 0 ? this.count : this.place) + steps[event.key]));
      this.cursor.setAttribute("x", place);
      this.cursor.setAttribute("width", 1);
      this.move(place);
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(Math.max(0, this.place), this.chart.dataset.key);
    } else {
      return;
    }
    event.preventDefault();
  }

  hours() {
    const {rejectedHours} = this.series;
    if (rejectedHours.length === 0) return null;
    return h("details", {}, h("summary", {}, "Rejected, by hour and reason"),
      table("Rejected readings by hour", ["Hour (UTC)", "Reason", "#Readings"], rejectedHours.slice(0, 500).map((hour) => row(
        time(iso(hour.start)), h("a", {href: `#/letters?reason=${encodeURIComponent(hour.reason)}`}, hour.reason), number(count(hour.count))))));
  }

  table() {
    const place = h("div");
    const fill = (event) => {
      if (!event.target.open || place.firstChild) return;
      const {accepted, missing, rejected, amended} = this.series;
      const rows = [];
      for (let index = this.count - 1; index >= 0 && rows.length < 1000; index--) {
        const key = `row ${this.series.number} ${index}`;
        rows.push(row(h("button", {class: "quiet", "data-key": key, onclick: (event) => this.choose(index, isByKey(event) && key)},
          label(this.boundaries[index], this.bucket, this.zone)),
          ...[accepted, missing, rejected, amended].map((list) => number(count(list[index])))));
      }
      replace(place, table(`${this.series.type} as a table`, ["From", "#Accepted", "#Missing", "#Rejected", "#Amended"], rows));
    };
    return h("details", {ontoggle: fill}, h("summary", {}, "As a table"), place);
  }
}
