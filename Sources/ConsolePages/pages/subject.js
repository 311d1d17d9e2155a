// What Timeline, Ledger and Playground share; whose readings. Addresses name a number of a series, and no identifier.

import {h, quoted, replace} from "../dom.js";
import {get, post} from "../api.js";
import {mayOperate} from "../app.js";
import {live, subscribe} from "../live.js";

let styled = false;
export function useStyles() {
  if (styled) return;
  styled = true;
  document.head.append(h("link", {rel: "stylesheet", href: "pages/data.css"}));
}

export function table(label, heads, rows) {
  return h("div", {class: "table", tabindex: "0", role: "region", "aria-label": label}, h("table", {},
    h("thead", {}, h("tr", {}, heads.map((text) => h("th", {scope: "col", class: text[0] === "#" ? "number" : null},
      text.replace("#", ""))))),
    h("tbody", {}, rows)));
}

export const card = (title, ...more) => h("div", {class: "card"}, h("h2", {}, title), more);
export const soft = (...text) => h("p", {class: "soft small"}, text);
export const code = (text) => h("code", {}, quoted(text));
export const quiet = (key, text, onclick) => h("button", {class: "quiet", "data-key": key, onclick}, text);

export const row = (...cells) => h("tr", {}, cells.map((cell) => cell instanceof Element && cell.tagName === "TD" ? cell : h("td", {}, cell)));
export const number = (text) => h("td", {class: "number"}, text);

export const choices = (name, legend, chosen, all, change) => h("fieldset", {}, h("legend", {class: "gone"}, legend),
  h("div", {class: "switch"}, all.map(([value, text, disabled]) => h("label", {}, h("input", {type: "radio", name, value, disabled,
    checked: value === chosen, "data-key": `${name} ${value}`, onchange: () => change(value)}), h("span", {}, text)))));

export const steps = (from, to, change) => h("div", {class: "buttons"},
  [["earlier", "‹ Earlier", from], ["later", "Later ›", 2 * to - from], ["newest", "Newest", ""]].map(([key, text, end]) =>
    h("button", {"data-key": key, onclick: () => change({to: end})}, text)));

export const told = (node) => (error) => {
  if (error.name !== "AbortError") node.textContent = error.message;
};

export const sum = (list) => list.reduce((one, other) => one + other, 0);
export const iso = (seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

/** Seconds between two loads that nobody asked for. */
const pause = 10;

// To be called before the page loads. Keeps it at its newest end: what has come since is loaded by `load` now and then, or offered in the element that is
// given back while `isBusy` says that somebody reads or chooses something there.
export function newest({signal, isBusy, load}) {
  const node = h("div", {class: "newer", role: "status"});
  const total = () => live.snapshot === null ? null : [live.snapshot.sample.accepted, live.snapshot.sample.rejected,
    live.snapshot.windows.written, live.snapshot.windows.amended].join();
  let [known, loaded, isLoading] = [total(), Date.now(), false];
  const again = async () => {
    if (isLoading) return;
    [isLoading, known] = [true, total()];
    try {
      await load();
      replace(node);
    } catch (error) {
      // Of an instance that does not answer at all the shell says so.
      if (error.name !== "AbortError") {
        known = null;
        replace(node, h("p", {class: "small"}, error.message));
      }
    } finally {
      [isLoading, loaded] = [false, Date.now()];
    }
  };
  subscribe(() => {
    if (live.isStale || total() === known) return;
    if (!isBusy()) {
      if (Date.now() - loaded >= pause * 1000) again();
    } else if (!node.firstChild) {
      replace(node, h("p", {class: "row small"}, "Newer readings have come. ", quiet("newer", "Show them", again)));
    }
  }, signal);
  return node;
}

const name = (subject) => subject.patient ? `${subject.patient} with ${subject.device}` : subject.device;

// Resolves to {node, subject, by, isEmpty}; `change` is called with the parameters to show next.
export async function chooser({params, signal, session, change}) {
  const [list, chosen] = await Promise.all([
    get("subjects", {}, signal),
    params.get("of") ? get("subjects/chosen", {of: params.get("of")}, signal) : null,
  ]);
  const subject = chosen?.subjects[0] ?? null;
  const by = params.get("by") === "patient" && subject?.patient ? "patient" : "device";
  const all = subject && !list.subjects.some((one) => one.series === subject.series)
    ? [subject, ...list.subjects] : list.subjects;
  const select = h("select", {id: "subject", "data-key": "subject",
    onchange: () => change({of: select.value, by: params.get("by")})},
  !subject && h("option", {value: ""}, "Choose…"),
  all.map((one) => h("option", {value: one.series, selected: one.series === subject?.series}, name(one))));
  const said = h("p", {class: "soft small", role: "status"});
  const field = h("input", {id: "find", "data-key": "find", name: "find", autocomplete: "off", spellcheck: "false",
    placeholder: "Device or patient"});
  const find = async (event) => {
    event.preventDefault();
    if (!field.value) return;
    const found = (await post("subjects/find", {text: field.value}, signal).catch(told(said)))?.subjects;
    if (found?.length === 0) said.textContent = "The store has no device or patient of this identifier.";
    else if (found) change({of: found[0].series, by: found.length > 1 ? "patient" : params.get("by")});
  };
  const reveal = async () => {
    const shown = await post("subjects/reveal", {series: subject.series}, signal).catch(told(said));
    if (shown) replace(said, "Device ", quoted(shown.device), shown.patient && [", patient ", quoted(shown.patient)],
      ". The log says that you have looked.");
  };
  const both = subject && choices("by", "Readings of", by,
    [["device", "Device"], ["patient", "Patient", !subject.patient]], (kind) => change({of: subject.series, by: kind}));
  const node = h("div", {class: "card controls"},
    h("div", {class: "row"},
      h("label", {class: "field"}, h("span", {}, "Whose"), select), both,
      subject && mayOperate(session) && quiet("reveal", "Reveal", reveal),
      h("form", {class: "field", onsubmit: find}, h("label", {for: "find"}, "Find"),
        h("span", {class: "join"}, field, h("button", {}, "Find")))),
    list.isPartial && soft(`The list has the ${all.length} that came last. Find others by their identifier.`),
    said);
  return {node, subject, by, isEmpty: all.length === 0};
}
