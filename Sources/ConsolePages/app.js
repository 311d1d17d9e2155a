// The shell of the console: login, navigation, and which page is shown. The contract of a page:
//
//  1. A page is a module pages/NAME.js with `export default {open(context)}`, and a row in pages.js.
//  2. `open` is called each time the address becomes #/NAME?…; context = {root, view, params, signal, session, go}.
//  3. root is an empty element; view = new View on it (view.js): call view.loading(), .loaded(nodes), .empty(), .error(),
//     .partial(), .initial(); nothing else shows a state. That nothing answers any more (.stale()) the shell shows.
//  4. params is the URLSearchParams of the address: all state of a page is there. go(name, {key: value}) changes it;
//     go(name, values, {quiet: true}) changes the address alone, without opening the page again.
//  5. signal is aborted when the page is left: pass it to get() and post() of api.js, and to subscribe() of live.js.
//  6. session = {role, version, started, edits}; mayOperate(session) and mayEdit(session) say whether to offer changes.
//  7. Elements are made with h() of dom.js; text of devices by quoted(). No innerHTML, no style attributes.
//  8. On the server: a list of ConsoleRoute.get/.post("path/:name", role) in one file of Sources/Kymograph/Console, added
//     to ConsoleRoutes.all. It answers .json(Encodable) or throws ConsoleRefusal; masked unless an audited reveal.
//  9. Styles are in style.css: use its classes (card, grid, table, tag, bar) and variables before adding any.
// 10. What opens a panel by a key goes there with enter() of dom.js; Escape goes back.
// 11. Times of a page are UTC; charts have a table behind them; colours have a glyph or a word beside them.

import {h, leave, replace} from "./dom.js";
import {get, post, onLoginNeeded} from "./api.js";
import {View} from "./view.js";
import {live, connect, disconnect, subscribe} from "./live.js";
import {pages} from "./pages.js";
import {clock} from "./format.js";

export const mayOperate = (session) => session.role !== "view";
export const mayEdit = (session) => session.role === "edit" && session.edits;

const state = {session: null, leaving: null, view: null, page: null};
const main = h("main", {id: "main", tabindex: "-1"});
const nav = h("nav", {id: "nav", "aria-label": "Pages"});
const foot = h("p", {class: "foot"});
const pulse = h("p", {class: "pulse waiting", "aria-hidden": "true"}, h("span", {class: "dot"}), h("span", {class: "word"}, "–"));

/** Goes to a page with `values` as its parameters. */
export function go(name, values = {}, {quiet = false} = {}) {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs).toString();
  const address = `#/${name}${text ? "?" + text : ""}`;
  if (quiet) history.replaceState(null, "", address);
  else if (location.hash === address) open();
  else location.hash = address;
}

function address() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return {page: pages.find((page) => page.name === name) ?? pages[0], params: new URLSearchParams(query ?? "")};
}

// MARK: Pages

async function open() {
  const code = location.hash.match(/^#login=(.+)$/)?.[1];
  if (code) {
    // The code is not to stay in the history.
    history.replaceState(null, "", location.pathname);
    return login(plain(code));
  }
  if (!state.session) return begin();
  const {page, params} = address();
  state.leaving?.abort();
  const leaving = state.leaving = new AbortController();
  document.title = `${page.title} · Kymograph`;
  for (const link of nav.querySelectorAll("a")) {
    link.dataset.page === page.name ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  if (menu.getAttribute("aria-expanded") === "true" && nav.contains(document.activeElement)) main.focus();
  setMenu(false);
  // Another address of the same page, such as by a choice in it: what was focused is, again.
  const focused = state.page === page && main.contains(document.activeElement)
    ? document.activeElement.closest("[data-key]")?.dataset.key : null;
  state.page = page;
  const root = h("section", {"aria-label": page.title, "data-page": page.name});
  const view = state.view = new View(root);
  replace(main, h("h1", {}, page.title), root);
  try {
    view.loading();
    const module = await page.load();
    if (leaving.signal.aborted) return;
    await module.default.open({root, view, params, signal: leaving.signal, session: state.session, go});
    if (focused && !leaving.signal.aborted && document.activeElement === document.body) {
      main.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }
  } catch (error) {
    if (!leaving.signal.aborted && error.name !== "AbortError") view.error(error, open);
  }
}

// MARK: Login

/** `text` without its escapes; as it is when they are none. */
function plain(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

async function begin() {
  try {
    state.session = await get("session");
  } catch (error) {
    if (error.status === 401) return showLogin();
    return showFailure(error);
  }
  showShell();
  live.wanted = true;
  connect();
  open();
}

/** The instance does not answer: whether somebody is logged in is not known. */
function showFailure(error) {
  document.title = "No answer · Kymograph";
  const root = h("section");
  replace(document.body, h("main", {id: "main", class: "login"}, root));
  new View(root).error(error, begin);
}

async function login(code) {
  try {
    await post("login", {code});
    await begin();
  } catch (error) {
    showLogin(error.message);
  }
}

function showLogin(message = "") {
  state.session = null;
  live.wanted = false;
  disconnect();
  state.leaving?.abort();
  state.view = null;
  document.title = "Log in · Kymograph";
  const field = h("input", {
    id: "code", name: "code", autocomplete: "one-time-code", autocapitalize: "characters", spellcheck: "false",
    placeholder: "XXXX-XXXX-XXXX", required: true, "aria-describedby": "login-help login-message",
  });
  const submit = (event) => {
    event.preventDefault();
    login(field.value);
  };
  replace(document.body, h("main", {id: "main", class: "login"},
    h("form", {class: "card", onsubmit: submit},
      brand(), h("h1", {}, "Log in"),
      h("p", {id: "login-help"}, "Run ", h("code", {}, "kymo console login"),
        " as the user of the instance. It prints a code that is good once, for two minutes."),
      h("label", {for: "code"}, "Code"), field,
      h("p", {id: "login-message", class: "problem", role: "alert"}, message),
      h("p", {class: "buttons"}, h("button", {class: "strong"}, "Log in")))));
  field.focus();
}

async function logout() {
  try { await post("logout"); } catch { /* gone either way */ }
  showLogin();
}

// MARK: Shell

const brand = () => h("p", {class: "brand"}, h("img", {src: "icon.svg", alt: "", width: 28, height: 28}), "Kymograph");

const menu = h("button", {class: "menu", "aria-controls": "nav", "aria-expanded": "false",
  onclick: () => setMenu(menu.getAttribute("aria-expanded") !== "true")}, "Menu");

function setMenu(isOpen) {
  menu.setAttribute("aria-expanded", isOpen);
  nav.classList.toggle("open", isOpen);
}

function showShell() {
  const {role, version} = state.session;
  replace(nav, h("ul", {}, pages.map((page) =>
    h("li", {}, h("a", {href: `#/${page.name}`, "data-page": page.name}, page.title)))),
    foot);
  replace(foot, h("span", {}, `kymo ${version}`), h("span", {}, `Role: ${role}`),
    h("button", {class: "quiet", onclick: logout}, "Log out"));
  replace(document.body,
    h("a", {class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); }},
      "Skip to the content"),
    h("header", {class: "head"}, brand(), pulse, menu), nav, main);
}

subscribe(() => {
  if (!live.at) return;
  pulse.classList.remove("waiting");
  pulse.classList.toggle("stale", live.isStale);
  pulse.lastChild.textContent = live.isStale ? `No answer since ${clock(live.at)}` : `${clock(live.at)} UTC`;
  live.isStale ? state.view?.stale(clock(live.at)) : state.view?.answered();
});

onLoginNeeded(() => { if (state.session) showLogin("You are logged out: your session has ended."); });
addEventListener("hashchange", open);
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (menu.getAttribute("aria-expanded") !== "true") return void leave();
  // What was focused in it is not shown any more.
  const isInside = nav.contains(document.activeElement);
  setMenu(false);
  if (isInside) menu.focus();
});
open();
