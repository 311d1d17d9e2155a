// Ledger: is this hour complete? A map of hours for each device; an hour says what is missing, and proves it.

import {enter, h, isByKey, quoted, replace} from "../dom.js";
import {get} from "../api.js";
import {View} from "../view.js";
import {count, counted, time} from "../format.js";
import {card, choices, chooser, newest, number, row, soft, steps, table, useStyles} from "./subject.js";

const day = 86400;
const states = {complete: ["✓", "complete"], running: ["…", "complete so far"], incomplete: ["!", "not complete"], none: ["·", "no readings"]};

export default {
  async open(context) {
    useStyles();
    await new LedgerPage(context).load();
  },
};

class LedgerPage {
  constructor(context) {
    Object.assign(this, context);
    this.detail = h("aside", {class: "sticky", "aria-label": "Chosen hour"});
    this.detailView = new View(this.detail);
    this.cells = [];
  }

  get days() { return Number(this.params.get("days")) === 28 ? 28 : 7; }

  change(values) { this.go("ledger", {...Object.fromEntries(this.params), hour: "", ...values}); }

  async load() {
    const {node, subject, by, isEmpty} = await chooser({...this, change: (values) => this.change({...values, to: ""})});
    if (isEmpty) return this.view.empty("No readings yet", "When sources bring readings, the ledger says here which hours are complete.");
    if (!subject) return this.view.initial("Whose hours?",
      "Choose a device from the list, or find one by its identifier or that of a patient.", node);
    Object.assign(this, {subject, by});
    this.head = h("div");
    this.hours = h("div", {class: "content"});
    const newer = !this.params.get("to") && newest({signal: this.signal, isBusy: () => this.isBusy, load: () => this.fill(true)});
    await this.fill();
    this.view.loaded(node, this.head, newer, h("div", {class: "split aside hourly"}, this.hours, this.detail));
    this.detailView.initial("No hour chosen", "Choose an hour to see what is missing, and what proves it.");
    this.scroll();
    this.tellCut();
    const chosen = this.chosen;
    if (chosen) await this.choose(chosen);
  }

  // Where not all hours have room, those with readings are seen.
  scroll() {
    for (const box of this.hours.querySelectorAll(".hours")) {
      const cell = [...box.querySelectorAll("button:not(.none)")].at(-1);
      if (cell) box.scrollLeft = cell.offsetLeft + cell.offsetWidth - box.clientWidth + 8;
    }
  }

  // Whether what is there must not change by itself.
  get isBusy() { return Boolean(this.params.get("hour")) || this.hours.contains(document.activeElement); }

  // The cell of the hour that the address names.
  get chosen() {
    return this.cells.find((cell) => cell.hour.start === this.params.get("hour") && cell.device.device === this.params.get("device"));
  }

  // Loads the hours; again, where there may be newer readings, and the chosen hour stays.
  async fill(isAgain = false) {
    if (isAgain) this.subject = (await get("subjects/chosen", {of: this.subject.series}, this.signal)).subjects[0] ?? this.subject;
    const {subject} = this;
    const last = subject.latest ? Date.parse(subject.latest) / 1000 : Date.now() / 1000;
    const now = Date.now() / 1000;
    const newest = now - last < this.days * day ? now : last;
    this.to = Number(this.params.get("to")) || Math.floor(newest / day) * day + day;
    this.from = this.to - this.days * day;
    const data = await get("hours", {of: subject.series, by: this.by, from: this.from, to: this.to}, this.signal);
    this.isPartial = data.isPartial;
    this.cells = [];
    replace(this.head, this.controls());
    replace(this.hours, this.summary(data), data.devices.map((device) => this.map(device)));
    if (!isAgain) return;
    this.scroll();
    this.view.fresh();
    this.tellCut();
    this.chosen?.button.setAttribute("aria-pressed", "true");
  }

  tellCut() {
    if (this.isPartial) this.view.partial("There are more devices or hours than one answer holds: look at one device, or at fewer days.");
  }

  controls() {
    return h("div", {class: "card controls"}, h("div", {class: "row"},
      choices("days", "Days", this.days, [[7, "7 days"], [28, "28 days"]], (days) => this.change({days})),
      steps(this.from, this.to, (values) => this.change(values)),
      h("p", {class: "legend"}, Object.values(states).map(([glyph, text]) => h("span", {}, `${glyph} ${text}`)))));
  }

  summary(data) {
    const hours = data.devices.flatMap((device) => device.hours);
    const number = (state) => hours.filter((hour) => hour.state === state).length;
    const bad = number("incomplete");
    const good = number("complete");
    const verdict = bad ? `${counted(bad, "hour")} of ${count(bad + good)} with readings ${bad === 1 ? "is" : "are"} not complete`
      : good ? `All ${counted(good, "hour")} with readings are complete` : "No readings in these days";
    return h("div", {class: `card verdict ${bad ? "warning" : good ? "" : "notice-only"}`},
      h("span", {class: "glyph", "aria-hidden": "true"}, bad ? "!" : good ? "✓" : "∅"), h("h2", {}, verdict),
      h("div", {}, data.storeWide.length === 0
        ? h("p", {class: "soft"}, "Complete: everything that is known to have been sent has been delivered. Hours are UTC.")
        : [h("p", {class: "soft"}, "Missing of the store, of unknown device and hour:"),
          h("ul", {}, data.storeWide.map((text) => h("li", {class: "small"}, quoted(text))))]));
  }

  map(device) {
    const rows = [];
    for (let place = 0; place < device.hours.length; place += 24) rows.push(device.hours.slice(place, place + 24));
    const grid = [];
    const cell = (hour, row, column) => {
      const [glyph, text] = states[hour.state];
      const button = h("button", {class: hour.state, tabindex: grid.length || row || column ? "-1" : "0", "aria-pressed": "false",
        "data-key": `${device.device} ${hour.start}`, "aria-label": `${time(hour.start)}: ${text}, ${counted(hour.readings, "reading")}`,
        onclick: (event) => this.choose(entry, event), onkeydown: (event) => this.key(event, grid, row, column)}, glyph);
      const entry = {button, hour, device};
      this.cells.push(entry);
      (grid[row] ??= [])[column] = button;
      return h("td", {}, button);
    };
    return h("section", {class: "card", "aria-label": `Hours of ${device.device}`},
      h("h2", {}, quoted(device.device)),
      h("div", {class: "hours"}, h("table", {},
        h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Day"), Array.from({length: 24}, (_, hour) =>
          h("th", {scope: "col"}, hour % 3 ? h("span", {class: "gone"}, hour) : String(hour).padStart(2, "0"))))),
        h("tbody", {}, rows.map((hours, row) => h("tr", {}, h("th", {scope: "row"}, hours[0].start.slice(5, 10)),
          hours.map((hour, column) => cell(hour, row, column))))))));
  }

  key(event, grid, row, column) {
    const places = {ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column], Home: [row, 0], End: [row, grid[row].length - 1]};
    if (!(event.key in places)) return;
    event.preventDefault();
    const next = grid[places[event.key][0]]?.[places[event.key][1]];
    if (!next) return;
    grid[row][column].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  async choose({button, hour, device}, event) {
    for (const cell of this.cells) cell.button.setAttribute("aria-pressed", cell.button === button);
    this.params.set("hour", hour.start);
    this.params.set("device", device.device);
    this.go("ledger", Object.fromEntries(this.params), {quiet: true});
    this.detailView.loading();
    try {
      const from = Date.parse(hour.start) / 1000;
      const report = await get("hours/proof",
        {of: this.subject.series, by: this.by, device: device.series, from, to: from + 3600}, this.signal);
      const [glyph, text] = states[hour.state];
      this.detailView.loaded(card(`${time(hour.start).slice(0, 16)} UTC: ${text}`, h("p", {}, h("span", {class: `tag ${hour.state === "complete" ? "good" : hour.state === "incomplete" ? "bad" : ""}`}, `${glyph} ${report.completeness}`)),
        report.missing.length > 0 && [h("h3", {}, "Missing"), h("ul", {}, report.missing.map((sentence) => h("li", {}, "• ", quoted(sentence))))],
        soft(h("a", {href: `#/timeline?${new URLSearchParams({of: this.subject.series, by: this.by,
          bucket: "1min", to: from + 3600})}`}, "Timeline of this hour"), " · ", h("a", {href: "#/letters"}, "Dead letters"))),
      card("Proof", this.windows(report.windows)));
      if (isByKey(event)) enter(this.detail, button.dataset.key);
    } catch (error) {
      if (error.name !== "AbortError") this.detailView.error(error, () => this.choose({button, hour, device}));
    }
  }

  windows(windows) {
    if (windows.length === 0) return h("p", {class: "soft"}, "No closed windows.");
    const delivered = (window) => Object.entries(window.delivered).map(([sink, has]) => `${sink} ${has ? "✓ has it" : "… waits"}`);
    return h("details", {open: true}, h("summary", {}, counted(windows.length, "window")),
      table("Windows of the hour", ["Start (UTC)", "Type", "#Readings", "From", "Delivered"], windows.slice(0, 400).map((window) =>
        row(h("time", {datetime: window.start}, time(window.start).slice(11)), window.type, number(count(window.readings)),
          quoted(Object.entries(window.sources).map(([name, part]) => `${name} ${part}`).join(", ")),
          quoted(delivered(window).join(", ") || "as the only sink got it")))));
  }
}
