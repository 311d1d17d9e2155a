// The seven states of a view: initial, loading, error, empty, loaded; stale over the last data; partial when a limit cut
// the answer. The state is in data-state, so that tests and styles see it. The shell calls stale() and answered() for the
// view of each page; a page itself only says what it has.

import {h, replace} from "./dom.js";

export class View {
  /** A view in `root`, an element of its own. */
  constructor(root) {
    this.root = root;
    /** Since when nothing answers, as text; null while something does. */
    this.since = null;
    this.said = {state: "initial", notice: []};
    this.notice = h("div", {class: "notice", role: "status", "aria-live": "polite"});
    this.content = h("div", {class: "content"});
    root.classList.add("view");
    replace(root, this.notice, this.content);
    this.initial();
  }

  get state() { return this.root.dataset.state; }

  #show(state, notice = []) {
    this.said = {state, notice};
    // What a page shows now, an answer has brought.
    this.since = null;
    this.#draw();
  }

  #draw() {
    const {state, notice} = this.said;
    const isStale = this.since !== null && ["initial", "loaded", "partial", "empty"].includes(state);
    this.root.dataset.state = isStale ? "stale" : state;
    this.root.setAttribute("aria-busy", state === "loading");
    const parts = isStale
      ? [h("p", {}, `⚠ No answer since ${this.since} UTC. What is below is from then.`), notice.length > 0 && h("p", {}, notice)] : notice;
    const text = parts.map((part) => part?.textContent ?? (part || "")).join("");
    // What is said already is not said again to whoever listens.
    if (this.notice.textContent !== text) replace(this.notice, parts);
  }

  #message(icon, title, text, ...more) {
    replace(this.content, h("div", {class: "message"},
      h("span", {class: "glyph", "aria-hidden": "true"}, icon), h("h2", {}, title), text && h("p", {}, text), more));
  }

  #hasData() { return this.content.dataset.has === "data"; }

  /** Nothing was asked yet: `text` says what a person does here, with what stands above it. */
  initial(title = "", text = "", ...above) {
    delete this.content.dataset.has;
    this.#show("initial");
    title ? this.#message("○", title, text) : replace(this.content);
    this.content.prepend(...above);
  }

  /** An answer is under way; data that is there stays. */
  loading(text = "Loading…") {
    if (!this.#hasData()) replace(this.content, h("div", {class: "skeleton", "aria-hidden": "true"},
      h("span"), h("span"), h("span")));
    this.#show("loading", [text]);
  }

  /** It failed; data that is there stays under the message. `retry` is what the button does. */
  error(error, retry) {
    const button = retry && h("button", {onclick: retry}, "Try again");
    if (this.#hasData()) return this.#show("error", ["✕ ", error.message, " ", button]);
    this.#show("error");
    this.#message("✕", "That did not work", error.message, button);
  }

  /** There is nothing, and that is no fault. */
  empty(title, text, ...more) {
    delete this.content.dataset.has;
    this.#show("empty");
    this.#message("∅", title, text, more);
  }

  /** The data. */
  loaded(...nodes) {
    this.content.dataset.has = "data";
    replace(this.content, nodes);
    this.#show("loaded");
  }

  /** Data that `update` has changed in place. */
  fresh() {
    this.content.dataset.has = "data";
    this.#show("loaded");
  }

  /** No answer since the time `since` (text): what was answered stays, marked. What waits or has failed says so itself. */
  stale(since) {
    this.since = since;
    this.#draw();
  }

  /** There are answers again. */
  answered() {
    if (this.since === null) return;
    this.since = null;
    this.#draw();
  }

  /** A limit cut the answer: `text` says what is missing; `more` is a button or nothing. */
  partial(text, more) { this.#show("partial", ["◐ ", text, " ", more]); }
}
