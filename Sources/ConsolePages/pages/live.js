// Live: what each series sends, a minute of it, as many as a screen has room for. Only what is seen is drawn.

import {h, quoted, replace, visible} from "../dom.js";
import {get} from "../api.js";
import {live, subscribe} from "../live.js";
import {age, clock, count, counted} from "../format.js";
import {quiet, row, number, table, useStyles} from "./subject.js";

/** Seconds that a line has, series that are shown, and the least size of a cell. */
const [minute, most, least] = [60, 1000, {width: 192, height: 52}];
/** Pixels of a cell that its value has, with its unit, and the longest unit that is shown there: others are cut. */
const [valueWidth, mostUnit] = [76, 10];
/** Seconds without an answer after which nothing is known, and for which readings of earlier times are no matter. */
const patience = 5;

export default {
  open(context) {
    useStyles();
    return new LivePage(context).begin();
  },
};

/** Numbers of series of what stands for them: how many are passed over, how many follow one another, and so on. */
function numbers(runs) {
  const all = [];
  for (let [place, number] = [0, 0]; place < runs.length; place += 2) {
    number += runs[place];
    for (const end = number + runs[place + 1]; number < end; number++) all.push(number);
  }
  return all;
}

/** Of each series that has sent in a second its number, the time of its latest reading in milliseconds since 1970, and its value.
 *  A time is that since the one before it, the first that since the second. */
function told({time, series, times, values}) {
  const all = numbers(series);
  // Better none than values of other series.
  if (all.length !== times.length || all.length !== values.length) throw new Error("What has come is not whole.");
  let at = time * 1000;
  return all.map((number, place) => [number, at += times[place], values[place]]);
}

/** What one series has sent: a value for each second, NaN where none came; `at` is the time of the reading whose number is shown. */
class Series {
  constructor(number) {
    Object.assign(this, {number, values: new Float64Array(minute).fill(NaN), seen: 0, first: 0, last: 0, renewed: 0, at: -Infinity,
      type: "", device: "", unit: "", shortUnit: "", text: ""});
  }

  /** What came in the second `time`. A reading of an earlier time than the one that is shown came now, but is not the newest. */
  take(slot, time, at, value) {
    // A rhythm that had a silence in it would be too slow to tell the next one.
    if (this.isQuiet(time)) this.seen = 0;
    if (this.seen === 0) this.first = this.renewed = time;
    if (this.show(at, value)) {
      this.values[slot] = value ?? NaN;
      this.renewed = time;
    }
    this.last = time;
    this.seen += 1;
  }

  /** Whether the number is the newest, and is shown. */
  show(at, value) {
    if (at < this.at) return false;
    this.at = at;
    this.text = value === null ? "" : String(value);
    return true;
  }

  /** What it is called, and the unit of its numbers. That of a pure number is 1, which would look like a digit more. */
  name({type, device, unit}) {
    const signs = unit === "1" ? [] : [...visible(unit)];
    const shortUnit = signs.length > mostUnit ? `${signs.slice(0, mostUnit - 1).join("")}…` : signs.join("");
    Object.assign(this, {type, device, label: "", unit: signs.join(""), shortUnit});
  }

  /** Its number with `unit`; empty where it has none. */
  value(unit) { return this.text && unit ? `${this.text} ${unit}` : this.text; }

  /** Whether it is known how often it sends. */
  get isKnown() { return this.seen > 2; }
  /** Seconds between two of its readings, as far as it is known. */
  get interval() { return this.isKnown ? Math.max(1, (this.last - this.first) / (this.seen - 1)) : Infinity; }
  isQuiet(time) { return time - this.last > Math.max(5, 3 * this.interval); }
  /** Whether what comes is older than the number: a clock that was ahead would keep it there while the patient's changes. */
  get isBehind() { return this.seen > 0 && this.last - this.renewed > patience; }
  /** Seconds since its number came, or was read, when it came before anything was looked at. */
  age(time) { return time - (this.seen > 0 ? this.renewed : this.at / 1000); }
}

class LivePage {
  constructor(context) {
    Object.assign(this, context, {all: new Map(), shown: [], slot: 0, time: 0, answered: Date.now(), after: null, isCut: false, place: -1});
    this.summary = h("p", {class: "soft", role: "status"});
    this.next = h("p", {class: "small"}, quiet("next", "Show the next that has stopped", () => this.choose(this.nextQuiet)));
    this.refused = h("p", {class: "small"}, h("a", {href: "#/letters", "data-key": "refused"}));
    this.said = h("p", {class: "soft small", role: "status"});
    this.canvas = h("canvas", {tabindex: "0", role: "slider", "data-key": "wall", "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0,
      "aria-label": "Series: choose one with the arrow keys, and Enter for its timeline", "aria-valuetext": "none",
      onclick: (event) => this.pick(event), onkeydown: (event) => this.key(event), onmousemove: (event) => this.say(this.at(event))});
    this.wall = h("div", {class: "wall"}, this.canvas);
    this.rows = h("div");
    this.details = h("details", {ontoggle: () => this.list()}, h("summary", {"data-key": "table"}, "As a table"), this.rows);
  }

  async begin() {
    const draw = () => this.draw();
    addEventListener("scroll", draw, {passive: true, signal: this.signal});
    addEventListener("resize", draw, {passive: true, signal: this.signal});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, {signal: this.signal});
    await this.load();
    const watch = setInterval(() => this.watch(), 1000);
    this.signal.addEventListener("abort", () => {
      clearTimeout(this.timer);
      clearInterval(watch);
    });
    subscribe(draw, this.signal);
    this.again();
  }

  again() {
    if (this.signal.aborted) return;
    this.timer = setTimeout(async () => {
      // Nobody looks at a hidden page.
      if (!document.hidden) {
        try {
          await this.load();
          this.problem = "";
        } catch (error) {
          this.problem = error.message;
        }
      }
      this.again();
    }, 1000);
  }

  /** Numbers that are not renewed are not to look as if they were, also while counts go on coming. That nothing at all answers
   *  the shell says. */
  watch() {
    if (document.hidden || live.isStale || this.time === 0) this.answered = Date.now();
    if (!this.isUnknown) return;
    const since = clock(new Date(this.time * 1000));
    const text = `${this.counted}; nothing is known since ${since} UTC`;
    if (this.summary.textContent !== text) this.summary.textContent = text;
    this.view.error(new Error(`Nothing is known since ${since} UTC, and what is below is from then. `
      + (this.problem || "The instance has not answered.")));
    this.draw();
  }

  get isUnknown() { return Date.now() - this.answered > patience * 1000; }
  get counted() { return `${counted(this.shown.length, "series", "series")}, a minute of each`; }

  async load() {
    // As many parts as seconds are kept: what comes meanwhile is for the next time.
    for (let part = 0, more = true; more && part < minute; part++) {
      const {slices, isMore} = await get("wall", {after: this.after}, this.signal);
      for (const slice of slices) this.take(slice);
      more = isMore ?? false;
    }
    const unknown = this.shown.filter((one) => !one.device).map((one) => one.number);
    if (unknown.length > 0) {
      for (const {type, unit, series, devices} of (await get("wall/names", {of: unknown.join()}, this.signal)).kinds) {
        numbers(series).forEach((number, place) => this.all.get(number)?.name({type, unit, device: devices[place]}));
      }
    }
    this.show();
  }

  take(slice) {
    const [{id, time, isBeginning, isPartial}, readings] = [slice, told(slice)];
    this.after = id;
    // What was not looked at has no rhythm; what had stopped before has, unless the clock has gone back behind that.
    const isBack = time < this.time;
    if (isBeginning || isBack || time - this.time > 5) {
      for (const one of this.all.values()) if (isBack || !one.isQuiet(this.time)) one.seen = 0;
    }
    // Two looks may be of the same second, and a pause is as wide as it was long.
    for (let steps = isBack ? minute : Math.min(minute, time - this.time); steps > 0; steps--) {
      this.slot = (this.slot + 1) % minute;
      for (const one of this.all.values()) one.values[this.slot] = NaN;
    }
    [this.time, this.answered] = [time, Date.now()];
    this.isPartial = isPartial ?? false;
    for (const [number, at, value] of readings) {
      let one = this.all.get(number);
      if (!one) {
        if (this.all.size === most) { this.isCut = true; continue; }
        this.all.set(number, one = new Series(number));
        this.shown.push(one);
      }
      // Those of the beginning came at any time before.
      if (isBeginning) one.show(at, value);
      else one.take(this.slot, time, at, value);
    }
    this.shown.sort((one, other) => one.number - other.number);
  }

  show() {
    if (this.all.size === 0) {
      this.isShown = false;
      return this.view.empty("Nothing is being sent", "Each device that sends is shown here, as its readings come.");
    }
    if (!this.isShown) this.view.loaded(this.summary, this.refused, this.next, this.wall, this.said, this.details);
    this.isShown = true;
    const text = `${this.counted}; ${this.states().join(", ") || "✓ all send as usual"}`;
    if (this.summary.textContent !== text) this.summary.textContent = text;
    this.next.hidden = this.nextQuiet < 0;
    this.tellRefused();
    this.canvas.setAttribute("aria-valuemax", this.shown.length - 1);
    const cut = [this.isCut && `Only ${count(most)} series are shown, and of the others nothing is said here.`,
      this.isPartial && "More came in the last second than is looked at: the newest are shown."].filter(Boolean);
    cut.length ? this.view.partial(cut.join(" ")) : this.view.fresh();
    this.draw();
    if (this.place >= 0) this.say(this.place);
  }

  /** How many are in what is not as usual. */
  states() {
    const told = (isSo, one, more) => {
      const number = this.shown.filter(isSo).length;
      return number > 0 && `${number === 1 ? one : more}`.replace("#", count(number));
    };
    const isQuiet = (one) => one.isQuiet(this.time);
    return [told(isQuiet, "◔ # has stopped", "◔ # have stopped"),
      told((one) => !isQuiet(one) && one.isBehind, "◷ # sends readings of earlier times", "◷ # send readings of earlier times"),
      told((one) => !isQuiet(one) && one.text === "", "◌ # sends no number", "◌ # send no number"),
      told((one) => !one.isKnown, "# is not known yet", "# are not known yet")].filter(Boolean);
  }

  /** What was rejected is in no line of the wall. */
  tellRefused() {
    const last = live.samples.at(-1);
    const first = live.samples.find((sample) => sample.time >= last.time - minute);
    const number = Math.max(0, (last?.rejected ?? 0) - (first?.rejected ?? 0));
    const text = `✕ ${counted(number, "reading")} of the last minute ${number === 1 ? "was" : "were"} not taken: show dead letters`;
    this.refused.hidden = number === 0;
    if (this.refused.firstChild.textContent !== text) this.refused.firstChild.textContent = text;
  }

  // MARK: Drawing

  get layout() {
    const width = this.wall.clientWidth;
    const columns = Math.max(1, Math.floor(width / least.width));
    return {width, columns, cell: width / columns, rows: Math.ceil(this.shown.length / columns)};
  }

  draw() {
    cancelAnimationFrame(this.frame);
    if (this.isShown && !this.signal.aborted) this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const {width, columns, cell, rows} = this.layout;
    const top = this.wall.getBoundingClientRect().top;
    const first = Math.min(rows - 1, Math.max(0, Math.floor(-top / least.height)));
    const some = Math.min(rows - first, Math.ceil(innerHeight / least.height) + 1);
    const scale = devicePixelRatio || 1;
    this.wall.style.height = `${rows * least.height}px`;
    const [across, down] = [Math.round(width * scale), Math.round(some * least.height * scale)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      Object.assign(this.canvas, {width: across, height: down});
      Object.assign(this.canvas.style, {width: `${width}px`, height: `${some * least.height}px`});
    }
    this.canvas.style.top = `${first * least.height}px`;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const colours = {ground: colour("--surface"), ink: colour("--ink"), soft: colour("--soft"), line: colour("--accent"), late: colour("--late")};
    // Nothing is as fresh as it looks while nothing answers.
    if (live.isStale || this.isUnknown) colours.ink = colours.line = colours.soft;
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, width, some * least.height);
    const shown = this.shown.slice(first * columns, (first + some) * columns);
    const each = (body) => shown.forEach((one, place) => body(one, (place % columns) * cell, Math.floor(place / columns) * least.height));
    this.lines(pen, each, cell, colours);
    this.words(pen, each, cell, colours);
    if (this.place < 0) return;
    const chosen = this.place - first * columns;
    pen.lineWidth = 2;
    pen.strokeStyle = colours.line;
    pen.strokeRect((chosen % columns) * cell + 1, Math.floor(chosen / columns) * least.height + 1, cell - 2, least.height - 2);
  }

  /** Those that send in one path, and those that have stopped in another, dashed. */
  lines(pen, each, cell, colours) {
    for (const isQuiet of [false, true]) {
      pen.beginPath();
      each((one, x, y) => { if (one.isQuiet(this.time) === isQuiet) this.line(pen, one, x + 8, y + 22, cell - 16, least.height - 28); });
      pen.lineWidth = 1.5;
      pen.setLineDash(isQuiet ? [3, 2] : []);
      pen.strokeStyle = isQuiet ? colours.late : colours.line;
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  line(pen, one, left, top, width, height) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of one.values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low === Infinity) return;
    const span = high - low || 1;
    const room = 1.5 * (Number.isFinite(one.interval) ? one.interval : 1) + 1;
    let former = -Infinity;
    for (let step = 0; step < minute; step++) {
      const value = one.values[(this.slot + 1 + step) % minute];
      if (Number.isNaN(value)) continue;
      const [x, y] = [left + step / (minute - 1) * width, top + height - (high === low ? 0.5 : (value - low) / span) * height];
      // A gap is a gap.
      if (step - former <= room) pen.lineTo(x, y);
      else { pen.moveTo(x - 1, y); pen.lineTo(x, y); }
      former = step;
    }
  }

  words(pen, each, cell, colours) {
    pen.textBaseline = "top";
    const draw = (isBold, colour, body) => {
      pen.font = `${isBold ? "600 " : ""}12px system-ui, sans-serif`;
      pen.fillStyle = colour;
      each(body);
    };
    draw(false, colours.soft, (one, x, y) => pen.fillText(this.label(pen, one, cell - valueWidth - 24), x + 8, y + 5));
    pen.textAlign = "right";
    const right = (text, x, y) => pen.fillText(text, x + cell - 8, y + 5, valueWidth);
    const isFresh = (one) => one.text !== "" && one.isKnown && !one.isBehind;
    draw(true, colours.ink, (one, x, y) => one.isQuiet(this.time) || isFresh(one) && right(one.value(one.shortUnit), x, y));
    draw(true, colours.soft, (one, x, y) => one.isQuiet(this.time) || isFresh(one) || one.isBehind || right(one.value(one.shortUnit) || "no number", x, y));
    draw(true, colours.late, (one, x, y) => {
      if (one.isQuiet(this.time)) right(`◔ ${age(this.time - one.last)}`, x, y);
      else if (one.isBehind) right(`◷ ${one.value(one.shortUnit) || "no number"}`, x, y);
    });
    pen.textAlign = "left";
    // In the place of a line that has nothing.
    draw(false, colours.soft, (one, x, y) => this.isOld(one) && pen.fillText(`${age(one.age(this.time))} ago`, x + 8, y + 28));
  }

  /** Whether the number that is shown is older than the line is long. */
  isOld(one) { return !one.isQuiet(this.time) && one.age(this.time) > minute; }

  /** The type, cut where it has no room, and what stands for the device. */
  label(pen, one, width) {
    if (one.label && one.labelled === width) return one.label;
    const device = visible(one.device.replace("masked-", ""));
    let type = one.type;
    while (type.length > 1 && pen.measureText(`${type} ${device}`).width > width) type = `${type.replace("…", "").slice(0, -1)}…`;
    one.labelled = width;
    return one.label = `${type} ${device}`;
  }

  // MARK: Choosing

  at(event) {
    const {columns, cell} = this.layout;
    const box = this.wall.getBoundingClientRect();
    const place = Math.floor((event.clientY - box.top) / least.height) * columns + Math.min(columns - 1, Math.floor((event.clientX - box.left) / cell));
    return place < this.shown.length ? place : -1;
  }

  text(place) {
    const one = this.shown[place];
    if (!one) return "";
    const words = one.isQuiet(this.time) ? [`nothing for ${age(this.time - one.last)}`]
      : [one.value(one.unit) || "no number", this.isOld(one) && `of ${age(one.age(this.time))} ago`,
        one.isBehind && "what comes is of earlier times"].filter(Boolean);
    return `${visible(one.device)} ${one.type}: ${words.join(", ")}`;
  }

  /** The first that has stopped behind the one that is chosen, and else the first of all; -1 for none. */
  get nextQuiet() {
    const isQuiet = (one) => one.isQuiet(this.time);
    const place = this.shown.findIndex((one, place) => place > this.place && isQuiet(one));
    return place < 0 ? this.shown.findIndex(isQuiet) : place;
  }

  say(place) {
    const text = this.text(place);
    if (this.said.textContent !== text) this.said.textContent = text;
    this.canvas.setAttribute("aria-valuenow", Math.max(0, place));
    this.canvas.setAttribute("aria-valuetext", text || "none");
  }

  pick(event) { this.goTo(this.at(event)); }

  goTo(place) {
    const one = this.shown[place];
    if (one) this.go("timeline", {of: one.number, bucket: "1min"});
  }

  key(event) {
    const {columns} = this.layout;
    const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity, End: Infinity};
    if (event.key in steps) {
      // Before the first, where none is chosen.
      this.choose(this.place + steps[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      this.goTo(Math.max(0, this.place));
    } else {
      return;
    }
    event.preventDefault();
  }

  choose(place) {
    this.place = Math.min(this.shown.length - 1, Math.max(0, place));
    const top = this.wall.getBoundingClientRect().top + Math.floor(this.place / this.layout.columns) * least.height;
    if (top < 72 || top + least.height > innerHeight) scrollBy(0, top - innerHeight / 2);
    this.say(this.place);
    this.draw();
  }

  /** The same as a table, of the moment when it was opened. */
  list() {
    if (!this.details.open) return replace(this.rows);
    replace(this.rows, table(`Series at ${clock(new Date(this.time * 1000))} UTC`, ["Device", "Type", "#Value", "Unit", "#Last came"], this.shown.map((one) => row(
      h("a", {href: `#/timeline?of=${one.number}&bucket=1min`}, visible(one.device)), one.type, number(one.text || "–"),
      one.unit && quoted(one.unit), number(one.seen ? `${age(this.time - one.last)} ago` : "before")))));
  }
}
