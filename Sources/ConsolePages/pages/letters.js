// Dead letters: by reason, in parts of a hundred, one by one; reveal, replay and discard.

import {enter, h, replace, quoted, visible, confirmed} from "../dom.js";
import {get, post} from "../api.js";
import {View} from "../view.js";
import {mayOperate} from "../app.js";
import {count, counted, short, time} from "../format.js";

const kinds = {payload: "payload of a source", measurement: "reading", entry: "entry that a server refused"};

export default {
  async open(context) {
    const page = new LettersPage(context);
    await page.load();
  },
};

class LettersPage {
  constructor({view, params, signal, session, go}) {
    Object.assign(this, {view, params, signal, session, go});
    this.chosen = new Set();
    this.rows = [];
    this.result = h("p", {class: "notice", role: "status"});
    this.reasons = h("div");
    this.list = h("div", {class: "content"});
    this.detail = h("aside", {class: "sticky", "aria-label": "Chosen letter"});
    this.detailView = new View(this.detail);
  }

  get filter() {
    const value = (name) => this.params.get(name) ?? "";
    return {reason: value("reason"), source: value("source"), replayed: value("replayed")};
  }

  async load() {
    const [reasons, part] = await Promise.all([
      get("letters/reasons", {}, this.signal), get("letters", this.filter, this.signal)]);
    this.rows = part.letters;
    this.part = part;
    if (reasons.length === 0) {
      // What was rejected may have been discarded: only what is kept is known here.
      return this.view.empty("No dead letters are kept", "What is rejected is kept here with its bytes, until it is discarded. "
        + "The overview counts all that was rejected since the start.", this.result);
    }
    replace(this.reasons, this.reasonChips(reasons));
    this.view.loaded(this.reasons, this.result,
      h("div", {class: "split aside listed"}, this.list, this.detail));
    this.showList();
    const number = this.params.get("letter");
    if (number) await this.openLetter(Number(number));
    else this.detailView.initial("No letter chosen", "Choose a letter to see why it was rejected, and what it looks like.");
  }

  /** Keeps the place and says what came of a change. */
  async reload(text, refusals = []) {
    this.chosen.clear();
    let failure = null;
    try {
      await this.load();
    } catch (error) {
      if (error.name === "AbortError") return;
      // The change was made all the same: what is shown is from before it.
      failure = error;
    }
    replace(this.result, h("strong", {}, text), refusals.length > 0 && h("ul", {}, refusals.slice(0, 20).map((refusal) =>
      h("li", {}, `Letter ${refusal.letter}: `, quoted(refusal.reason)))),
    refusals.length > 20 && h("p", {}, `and ${count(refusals.length - 20)} more`),
    failure && h("p", {class: "late"}, `⚠ The list below is from before that: ${failure.message} `,
      h("button", {onclick: () => this.go("letters", this.filter)}, "Load it again")));
    this.result.tabIndex = -1;
    this.result.focus();
  }

  reasonChips(reasons) {
    const {reason, source, replayed} = this.filter;
    const link = (values) => "#/letters?" + new URLSearchParams(
      Object.entries({...this.filter, ...values}).filter(([, value]) => value));
    const byReason = new Map();
    for (const row of reasons) {
      const known = byReason.get(row.reason) ?? {count: 0, meaning: row.meaning};
      byReason.set(row.reason, {...known, count: known.count + row.count + (replayed ? row.replayed : 0)});
    }
    const all = [...byReason.values()].reduce((sum, row) => sum + row.count, 0);
    const chip = (name, text, number) => h("a", {href: link({reason: name}), "data-key": `reason ${name}`,
      "aria-current": reason === name ? "true" : null}, text, " ", h("span", {class: "count"}, count(number)));
    return [
      h("div", {class: "chips", role: "group", "aria-label": "Reasons"}, chip("", "All reasons", all),
        [...byReason].map(([name, row]) => chip(name, name, row.count))),
      h("p", {class: "row small"},
        source && h("span", {}, "Only from ", quoted(source), " ", h("a", {href: link({source: ""})}, "show all")),
        h("label", {class: "check"}, h("input", {type: "checkbox", checked: replayed === "true", "data-key": "replayed",
          onchange: (event) => this.go("letters", {...this.filter, replayed: event.target.checked ? "true" : ""})}),
        "Also those that were replayed")),
      byReason.get(reason)?.meaning && h("p", {class: "soft"}, h("strong", {}, reason), ": ", byReason.get(reason).meaning),
    ];
  }

  // MARK: List

  showList() {
    if (this.rows.length === 0) {
      return replace(this.list, h("div", {class: "message"}, h("h2", {}, "No letters of this kind"),
        h("p", {}, "They were replayed or discarded, or the filter leaves all of them out.")));
    }
    const changes = mayOperate(this.session);
    const row = (letter) => h("tr", {"data-letter": letter.number,
      class: String(letter.number) === this.params.get("letter") ? "current" : null},
    changes && h("td", {}, h("input", {type: "checkbox", "aria-label": `Choose letter ${letter.number}`,
      checked: this.chosen.has(letter.number), onchange: (event) => this.choose(letter.number, event.target.checked)})),
    h("td", {class: "number"}, h("button", {class: "quiet", "data-key": `letter ${letter.number}`,
      "aria-label": `Show letter ${letter.number}`, onclick: () => this.openLetter(letter.number)}, letter.number)),
    h("td", {}, h("time", {datetime: letter.at}, time(letter.at))),
    h("td", {class: "nowrap"}, letter.reason, letter.replayed && [" ", h("span", {class: "tag good"}, "✓ replayed")]),
    h("td", {class: "wide from"}, quoted(letter.source)),
    h("td", {class: "wide why soft"}, letter.detail ? quoted(letter.detail) : "–"));
    const head = [changes && h("th", {scope: "col"}, h("span", {class: "gone"}, "Chosen")),
      h("th", {scope: "col", class: "number"}, "Letter"), h("th", {scope: "col"}, "Received (UTC)"),
      h("th", {scope: "col"}, "Reason"), h("th", {scope: "col", class: "wide"}, "From"),
      h("th", {scope: "col", class: "wide"}, "Mapping")];
    this.buttons = h("div", {class: "buttons"});
    replace(this.list, changes && this.buttons,
      h("div", {class: "table", tabindex: "0", role: "region", "aria-label": "List of letters"},
        h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, this.rows.map(row)))));
    this.showButtons();
    if (this.part.before) {
      this.view.partial(`${count(this.rows.length)} of ${count(this.part.total)} letters are shown, the newest first.`,
        h("button", {"data-key": "more", onclick: () => this.more()}, "Show 100 more"));
    } else {
      this.view.fresh();
    }
  }

  async more() {
    this.part = await this.tried(() => get("letters", {...this.filter, before: this.part.before}, this.signal)) ?? this.part;
    const last = this.rows.at(-1)?.number ?? Infinity;
    this.rows.push(...this.part.letters.filter((letter) => letter.number < last));
    this.showList();
  }

  choose(number, isChosen) {
    isChosen ? this.chosen.add(number) : this.chosen.delete(number);
    this.showButtons();
  }

  showButtons() {
    if (!mayOperate(this.session)) return;
    const chosen = this.chosen.size;
    const all = this.rows.length > 0 && chosen === this.rows.length;
    replace(this.buttons,
      h("button", {"data-key": "all", onclick: () => {
        this.chosen = new Set(all ? [] : this.rows.map((row) => row.number));
        this.showList();
      }}, all ? "Choose none" : `Choose all ${count(this.rows.length)} shown`),
      h("button", {class: "strong", "data-key": "replay", disabled: chosen === 0,
        onclick: () => this.replay([...this.chosen])}, `Replay ${chosen || ""}`),
      h("button", {class: "danger", "data-key": "discard", disabled: chosen === 0,
        onclick: () => this.discard([...this.chosen])}, `Discard ${chosen || ""}`));
  }

  // MARK: Changes

  /** What `body` gives; nothing, with a message, when it fails. */
  async tried(body) {
    try {
      return await body();
    } catch (error) {
      if (error.name !== "AbortError") replace(this.result, h("span", {class: "rejected"}, "✕ ", error.message));
      return null;
    }
  }

  async replay(letters, parts = false) {
    const question = `The bytes of ${counted(letters.length, "letter")} are mapped again, as if they had just come from `
      + "where they came from. Refused entries are sent again. What is rejected again stays as it is.";
    if (!await confirmed("Replay?", question, "Replay")) return;
    const outcome = await this.tried(() => post("letters/replay", {letters, parts}, this.signal));
    if (outcome) await this.reload(outcome.text, outcome.refusals);
  }

  async discard(letters) {
    const question = `${counted(letters.length, "letter")} and ${letters.length === 1 ? "its" : "their"} bytes are deleted `
      + "for good. They stay counted in the ledger.";
    if (!await confirmed("Discard?", question, "Discard")) return;
    const outcome = await this.tried(() => post("letters/discard", {letters}, this.signal));
    if (!outcome) return;
    if (letters.includes(Number(this.params.get("letter")))) this.mark(null);
    await this.reload(outcome.text, outcome.refusals);
  }

  // MARK: One letter

  mark(number) {
    number === null ? this.params.delete("letter") : this.params.set("letter", number);
    this.go("letters", Object.fromEntries(this.params), {quiet: true});
    for (const row of this.list.querySelectorAll("tr[data-letter]")) {
      row.classList.toggle("current", row.dataset.letter === String(number));
    }
  }

  async openLetter(number) {
    this.mark(number);
    this.detailView.loading();
    await this.show(number, (signal) => get(`letters/${number}`, {}, signal));
  }

  /** Shows what `ask` gives of a letter, unless another one is chosen meanwhile. */
  async show(number, ask) {
    this.asking?.abort();
    const asking = this.asking = new AbortController();
    try {
      const letter = await ask(AbortSignal.any([this.signal, asking.signal]));
      if (!asking.signal.aborted) this.showLetter(letter);
    } catch (error) {
      if (error.name === "AbortError" || asking.signal.aborted) return;
      delete this.detailView.content.dataset.has;
      this.detailView.error(error, () => this.openLetter(number));
    }
  }

  async reveal(number) {
    await this.show(number, (signal) => post(`letters/${number}/reveal`, {}, signal));
  }

  showLetter(letter) {
    const changes = mayOperate(this.session);
    const pair = (name, ...value) => [h("dt", {}, name), h("dd", {}, value)];
    this.detailView.loaded(h("div", {class: "card content"},
      h("div", {class: "row spread"}, h("h2", {}, `Letter ${letter.number}`),
        h("span", {class: "tag bad"}, "✕ ", letter.reason)),
      letter.meaning && h("p", {class: "sentence"}, letter.meaning, "."),
      h("dl", {class: "pairs"},
        pair("Received", time(letter.at), " UTC"), pair("Kind", kinds[letter.kind] ?? letter.kind),
        pair(letter.kind === "entry" ? "Sink" : "Source", quoted(letter.source)),
        letter.detail && pair("Detail", quoted(letter.detail)),
        pair("Size", letter.size === undefined ? "its bytes are damaged" : `${short(letter.size)} bytes`),
        letter.replayed && pair("Replayed", time(letter.replayed), " UTC"),
        letter.isPart && pair("Note", "only a part of what came is here")),
      letter.isRevealed ? revealed(letter) : masked(letter, changes, () => this.reveal(letter.number)),
      changes && h("div", {class: "buttons"},
        h("button", {class: "strong", onclick: () => this.replay([letter.number])}, "Replay"),
        letter.isPart && h("button", {onclick: () => this.replay([letter.number], true)}, "Replay as if it were all"),
        h("button", {class: "danger", onclick: () => this.discard([letter.number])}, "Discard"))));
    enter(this.detail, `letter ${letter.number}`);
    if (!matchMedia("(min-width: 75rem)").matches) this.detail.scrollIntoView();
  }
}

function masked(letter, changes, reveal) {
  return [
    letter.isTooLong && h("p", {class: "small soft"}, "It is too long for a shape: more than 64 KiB."),
    letter.shape && [h("h3", {}, "Shape"), h("p", {class: "small soft"}, "Names of members and kinds of values; contents "
      + "are masked."), h("pre", {tabindex: "0", "aria-label": "Shape of the payload"}, visible(letter.shape))],
    letter.size !== undefined && (changes
      ? h("p", {class: "buttons"}, h("button", {onclick: reveal}, "Reveal content"),
        h("span", {class: "small soft"}, "It may name a patient. Revealing is logged."))
      : h("p", {class: "small soft"}, "Its content may name a patient: the role operate can reveal it.")),
  ];
}

function revealed(letter) {
  return [
    letter.isCut && h("p", {class: "late small"}, "◐ The first 64 KiB are shown."),
    letter.text !== undefined && [h("h3", {}, "Text"),
      h("pre", {tabindex: "0", dir: "ltr", "data-part": "text", "aria-label": "Content as text"}, visible(letter.text))],
    h("details", {open: letter.text === undefined}, h("summary", {}, "Hexadecimal"),
      h("pre", {tabindex: "0", "data-part": "hex", "aria-label": "Content in hexadecimal"}, dump(letter.hex ?? ""))),
  ];
}

/** Sixteen bytes a line: place, hexadecimal digits, ASCII. */
function dump(hex) {
  const lines = [];
  for (let place = 0; place < hex.length; place += 32) {
    const values = hex.slice(place, place + 32).match(/../g) ?? [];
    const text = values.map((value) => {
      const code = parseInt(value, 16);
      return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : "·";
    }).join("");
    lines.push(`${(place / 2).toString(16).padStart(6, "0")}  ${values.join(" ").padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}
