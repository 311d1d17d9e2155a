// The seven states of a view: initial, loading, error, empty, loaded; stale over the last data; partial when a limit cut
// the answer. The state is in data-state, so that tests and styles see it.

import {h, replace} from "./dom.js";

export class View {
  /** A view in `root`, an element of its own. */
  constructor(root) {
    this.root = root;
    this.notice = h("div", {class: "notice", role: "status", "aria-live": "polite"});
    this.content = h("div", {class: "content"});
    root.classList.add("view");
    replace(root, this.notice, this.content);
    this.initial();
  }

  get state() { return this.root.dataset.state; }

  #show(state, notice = []) {
    this.root.dataset.state = state;
    this.root.setAttribute("aria-busy", state === "loading");
    const said = notice.map((part) => part?.textContent ?? part ?? "").join("");
    // What is said already is not said again to whoever listens.
    if (this.notice.textContent !== said) replace(this.notice, notice);
  }

  #message(icon, title, text, ...more) {
    replace(this.content, h("div", {class: "message"},
      h("span", {class: "glyph", "aria-hidden": "true"}, icon), h("h2", {}, title), text && h("p", {}, text), more));
  }

  #hasData() { return this.content.dataset.has === "data"; }

  /** Nothing was asked yet: `text` says what a person does here. */
  initial(title = "", text = "") {
    delete this.content.dataset.has;
    this.#show("initial");
    title ? this.#message("○", title, text) : replace(this.content);
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

  /** No answer since the time `since` (text): the last data stays, marked. */
  stale(since) {
    if (!this.#hasData()) return this.error(new Error(`No answer since ${since}.`));
    this.#show("stale", [`⚠ No answer since ${since}. What is below is from then.`]);
  }

  /** A limit cut the answer: `text` says what is missing; `more` is a button or nothing. */
  partial(text, more) { this.#show("partial", ["◐ ", text, " ", more]); }
}
