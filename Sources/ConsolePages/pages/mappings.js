// Mappings: those in use and the catalogue, with their examples and files. The playground changes them.

import {enter, h, isByKey, replace, quoted} from "../dom.js";
import {get} from "../api.js";
import {View} from "../view.js";
import {count, counted} from "../format.js";

export default {
  async open({view, params, signal, go}) {
    const rows = await get("mappings", {}, signal);
    if (rows.length === 0) return view.empty("No mappings", "This instance has none.");
    const detail = h("aside", {class: "sticky", "aria-label": "Chosen mapping"});
    const detailView = new View(detail);
    const results = new Map(rows.map((row) => [row.name, h("span", {class: "tag"}, "… waits")]));
    const summary = h("p", {class: "soft", role: "status"});

    const choose = async (row, event) => {
      params.set("name", row.name);
      go("mappings", Object.fromEntries(params), {quiet: true});
      for (const line of view.content.querySelectorAll("tr[data-name]")) {
        line.classList.toggle("current", line.dataset.name === row.name);
      }
      detailView.loading();
      try {
        const [tested, files] = await Promise.all([
          get("mappings/tests", {name: row.name}, signal), get("mappings/files", {name: row.name}, signal)]);
        detailView.loaded(mapping(row, tested, files));
        if (isByKey(event)) enter(detail, `mapping ${row.name}`);
      } catch (error) {
        if (error.name === "AbortError") return;
        delete detailView.content.dataset.has;
        detailView.error(error, () => choose(row, event));
      }
    };

    const line = (row) => h("tr", {"data-name": row.name},
      h("td", {}, h("button", {class: "quiet", "data-key": `mapping ${row.name}`, onclick: (event) => choose(row, event)},
        quoted(row.name))),
      h("td", {}, row.sources.length > 0 ? h("span", {class: "tag good"}, "● in use") : h("span", {class: "soft"}, "–")),
      h("td", {class: "wide"}, row.isOfCatalogue ? "catalogue" : "own"),
      h("td", {class: "number wide"}, count(row.types.reduce((sum, type) => sum + type.count, 0))),
      h("td", {}, results.get(row.name)));
    view.loaded(summary, h("div", {class: "split aside"},
      h("div", {class: "table", tabindex: "0", role: "region", "aria-label": "List of mappings"}, h("table", {},
        h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Mapping"), h("th", {scope: "col"}, "Use"),
          h("th", {scope: "col", class: "wide"}, "From"), h("th", {scope: "col", class: "number wide"}, "Readings"),
          h("th", {scope: "col"}, "Examples"))),
        h("tbody", {}, rows.map(line)))), detail));
    detailView.initial("No mapping chosen", "Choose a mapping to see its examples and its two files.");
    const chosen = rows.find((row) => row.name === params.get("name"));
    if (chosen) await choose(chosen);
    await testAll(rows, results, summary, signal);
  },
};

async function testAll(rows, results, summary, signal) {
  let [passed, failed, unknown] = [0, 0, 0];
  for (const row of rows) {
    if (signal.aborted) return;
    try {
      const tested = await get("mappings/tests", {name: row.name}, signal);
      const wrong = tested.examples.filter((example) => example.differences.length > 0).length;
      passed += tested.examples.length - wrong;
      failed += wrong;
      show(results.get(row.name), tested, wrong);
    } catch (error) {
      if (error.name === "AbortError") return;
      unknown += 1;
      Object.assign(results.get(row.name), {className: "tag warn", textContent: "⚠ not run"});
    }
  }
  replace(summary, `${counted(rows.length, "mapping")}; ${counted(passed, "example")} pass, ${count(failed)} fail`,
    unknown > 0 && `, those of ${counted(unknown, "mapping")} could not be run`, ".");
}

function show(tag, tested, wrong) {
  const all = tested.examples.length;
  if (all === 0 && tested.findings.length > 0) Object.assign(tag, {className: "tag bad", textContent: "✕ has errors"});
  else if (all === 0) Object.assign(tag, {className: "tag", textContent: "○ none"});
  else if (wrong) Object.assign(tag, {className: "tag bad", textContent: `✕ ${wrong} of ${all} fail`});
  else Object.assign(tag, {className: "tag good", textContent: `✓ ${all} pass`});
}

function mapping(row, tested, files) {
  const file = (name, text) => h("details", {}, h("summary", {}, quoted(name)),
    h("pre", {tabindex: "0", "aria-label": name}, text));
  return h("div", {class: "card content"},
    h("h2", {}, quoted(row.name)),
    h("dl", {class: "pairs"},
      h("dt", {}, "From"), h("dd", {}, row.isOfCatalogue ? "the catalogue of kymo" : "a folder or files of your own"),
      h("dt", {}, "Used by"), h("dd", {}, row.sources.length
        ? row.sources.map((source, place) => [place > 0 && ", ", quoted(source)]) : "no source"),
      row.types.map((type) => [h("dt", {}, quoted(type.type)), h("dd", {}, counted(type.count, "reading"))])),
    tested.findings.length > 0 && [h("h3", {}, "Findings"), h("ul", {}, tested.findings.map((text) =>
      h("li", {class: "small late"}, "⚠ ", quoted(text))))],
    h("h3", {}, "Examples"),
    tested.examples.length === 0 ? h("p", {class: "soft small"}, "It has none.")
      : h("ul", {class: "list"}, tested.examples.map((example) => h("li", {},
        h("span", {class: `tag ${example.differences.length ? "bad" : "good"}`},
          example.differences.length ? "✕ fails" : "✓ passes"), " ", quoted(example.name),
        example.differences.length > 0 && h("pre", {tabindex: "0", "aria-label": `Differences of ${example.name}`},
          example.differences.join("\n"))))),
    h("p", {}, h("a", {href: `#/playground?mapping=${encodeURIComponent(row.name)}`},
      row.isEditable ? "Try and change it in the playground" : "Try it in the playground")),
    h("h3", {}, "Files"), file(files.deviceFile, files.deviceText),
    file(files.fhirFile, files.fhirText));
}
