// Playground: a payload and both files of a mapping; what comes of them and why, as one types.

import {h, replace, quoted, visible} from "../dom.js";
import {get, post} from "../api.js";
import {View} from "../view.js";
import {mayEdit, mayOperate} from "../app.js";
import {counted} from "../format.js";
import {card, choices, code, soft, table, told, useStyles} from "./subject.js";

const kept = "kymo-playground";
const example = '{"deviceId":"watch-1","type":"heartRate","timestamp":"2026-03-01T08:00:05Z","value":72,"unit":"/min"}';
const titles = {payload: "Payload", device: "Device mapping", fhir: "FHIR mapping"};

export default {
  async open(context) {
    useStyles();
    await new PlaygroundPage(context).load();
  },
};

const stored = () => {
  try { return JSON.parse(sessionStorage.getItem(kept)) ?? {}; } catch { return {}; }
};

class PlaygroundPage {
  constructor(context) {
    Object.assign(this, context);
    this.editors = {};
    this.asked = 0;
    this.signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  get isHex() { return this.params.get("hex") === "true"; }

  async load() {
    const mappings = await get("mappings", {}, this.signal);
    const texts = stored();
    const name = this.params.get("mapping") ?? texts.name ?? (this.params.get("letter") ? mappings[0]?.name : "reading");
    if (!texts.device || this.params.get("mapping") && texts.name !== name) Object.assign(texts, await this.files(name));
    this.name = texts.name ?? name;
    this.base = texts.base;
    this.mappings = mappings;
    for (const kind of ["payload", "device", "fhir"]) this.editors[kind] = this.editor(kind, texts[kind] ?? (kind === "payload" ? example : ""));
    this.results = h("div", {class: "content"});
    this.resultView = new View(this.results);
    this.said = h("p", {class: "soft small", role: "status"});
    this.saving = h("div", {class: "content"});
    this.view.loaded(this.controls(mappings), this.said, this.saving,
      h("div", {class: "editors"}, Object.keys(titles).map((kind) => this.editors[kind].node)), this.results);
    if (this.params.get("letter")) await this.openLetter(this.params.get("letter"));
    await this.run();
  }

  async files(name) {
    const files = await get("mappings/files", {name}, this.signal);
    return {name, device: files.deviceText, fhir: files.fhirText,
      base: {deviceDigest: files.deviceDigest, fhirDigest: files.fhirDigest}};
  }

  controls(mappings) {
    const set = (values) => {
      for (const [key, value] of Object.entries(values)) value ? this.params.set(key, value) : this.params.delete(key);
      this.go("playground", Object.fromEntries(this.params), {quiet: true});
      this.run();
    };
    const mapping = h("select", {id: "mapping", "data-key": "mapping", onchange: async () => {
      const files = await this.files(mapping.value).catch(told(this.said));
      if (!files) return;
      this.name = files.name;
      this.base = files.base;
      this.editors.device.area.value = files.device;
      this.editors.fhir.area.value = files.fhir;
      set({mapping: files.name});
    }}, mappings.map((row) => h("option", {value: row.name, selected: row.name === this.name},
      row.sources.length ? `${row.name} (in use)` : row.name)));
    const version = h("select", {id: "version", "data-key": "version", onchange: () => set({fhirVersion: version.value})},
      ["R4", "R4B", "R5", "STU3"].map((name) => h("option", {value: name, selected: name === (this.params.get("fhirVersion") ?? "R4")}, name)));
    const letter = h("input", {id: "letter", type: "number", min: 1, value: this.params.get("letter") ?? ""});
    return h("div", {class: "card controls"}, h("div", {class: "row"},
      h("label", {class: "field"}, h("span", {}, "Begin with the mapping"), mapping),
      choices("mode", "Compatibility", this.params.get("compatibility") ?? "none",
        [["none", "As kymo"], ["iomt-fhir", "As the MedTech service"]], (mode) => set({compatibility: mode === "none" ? "" : mode})),
      h("label", {class: "field"}, h("span", {}, "FHIR version"), version),
      h("label", {class: "check"}, h("input", {type: "checkbox", checked: this.isHex, "data-key": "hex",
        onchange: (event) => this.toggleHex(event.target.checked)}), "Payload is hexadecimal"),
      mayOperate(this.session) && h("form", {class: "field", onsubmit: (event) => {
        event.preventDefault();
        if (letter.value) this.go("playground", {...Object.fromEntries(this.params), letter: letter.value});
      }}, h("label", {for: "letter"}, "Dead letter"), h("span", {class: "join"}, letter, h("button", {}, "Open")))),
    soft("Drop files on the fields below, those of the MedTech service too. What you type stays in this tab until you save it."));
  }

  editor(kind, text) {
    const area = h("textarea", {id: `edit-${kind}`, name: kind, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      wrap: "off", oninput: () => this.later(), value: text});
    const file = h("input", {type: "file", class: "gone", tabindex: "-1", "aria-label": `File for ${titles[kind]}`,
      onchange: () => file.files[0] && this.take(kind, file.files[0])});
    const node = h("div", {class: "editor",
      ondragover: (event) => { event.preventDefault(); node.classList.add("over"); },
      ondragleave: () => node.classList.remove("over"),
      ondrop: (event) => {
        event.preventDefault();
        node.classList.remove("over");
        for (const dropped of event.dataTransfer.files) this.take(kind, dropped);
      }},
    h("div", {class: "row"}, h("label", {for: `edit-${kind}`}, h("strong", {}, titles[kind])), h("span", {},
      file, h("button", {class: "quiet", "data-key": `file ${kind}`, "aria-label": `Open a file as ${titles[kind]}`, onclick: () => file.click()}, "Open a file"))),
    area);
    return {node, area};
  }

  async take(kind, file) {
    if (file.size > 262144) return void (this.said.textContent = `${file.name} is longer than 256 KiB.`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = null;
    try { text = new TextDecoder("utf-8", {fatal: true}).decode(bytes); } catch { /* no text */ }
    const places = [];
    if (text?.includes('"CollectionContent"')) places.push("device");
    if (text?.includes('"CollectionFhir"')) places.push("fhir");
    if (places.length) {
      for (const place of places) this.editors[place].area.value = text;
      if (!this.offered) this.name = file.name.replace(/\.[^.]*$/, "") || "mapping";
    } else if (kind === "payload") {
      this.setPayload(bytes, text);
    } else {
      this.editors[kind].area.value = text ?? "";
    }
    this.said.textContent = `${file.name} is now the ${(places.length ? places : [kind]).map((place) => titles[place].toLowerCase()).join(" and the ")}.`;
    await this.run();
  }

  setPayload(bytes, text) {
    const isText = text !== null && !/[\u0000-\u0008\u000e-\u001f]/.test(text);
    this.params.set("hex", isText ? "" : "true");
    if (isText) this.params.delete("hex");
    const box = this.view.root.querySelector('[data-key="hex"]');
    if (box) box.checked = !isText;
    this.editors.payload.area.value = isText ? text : hex(bytes);
  }

  toggleHex(isHex) {
    const area = this.editors.payload.area;
    const bytes = isHex ? new TextEncoder().encode(area.value) : unhex(area.value);
    area.value = isHex ? hex(bytes) : new TextDecoder().decode(bytes);
    isHex ? this.params.set("hex", "true") : this.params.delete("hex");
    this.go("playground", Object.fromEntries(this.params), {quiet: true});
    this.run();
  }

  async openLetter(number) {
    if (!mayOperate(this.session)) return void (this.said.textContent = "Your role may not see the bytes of dead letters.");
    const letter = await post(`letters/${number}/reveal`, {}, this.signal).catch(told(this.said));
    if (!letter) return;
    this.setPayload(unhex(letter.hex), letter.text);
    replace(this.said, `This is dead letter ${number}: `, h("strong", {}, letter.reason), letter.meaning && `, ${letter.meaning}`,
      ". When the mapping is mended and in use, ", h("a", {href: `#/letters?letter=${number}`}, "replay it"), ".");
  }

  later(milliseconds = 300) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), milliseconds);
  }

  /** Keeps what is typed in the tab, and gives it. */
  keep() {
    const value = (kind) => this.editors[kind].area.value;
    const texts = {name: this.name, base: this.base, payload: value("payload"), device: value("device"), fhir: value("fhir")};
    try { sessionStorage.setItem(kept, JSON.stringify(texts)); } catch { /* full: it is only not kept */ }
    return texts;
  }

  async run() {
    clearTimeout(this.timer);
    const number = ++this.asked;
    this.offerSaving();
    const texts = this.keep();
    this.resultView.root.setAttribute("aria-busy", "true");
    try {
      const answer = await post("playground", {
        ...(this.isHex ? {hex: texts.payload} : {payload: texts.payload}), deviceText: texts.device, fhirText: texts.fhir, name: this.name,
        compatibility: this.params.get("compatibility") ?? "none", fhirVersion: this.params.get("fhirVersion") ?? "R4",
      }, this.signal);
      if (number === this.asked) this.show(answer, texts.payload);
    } catch (error) {
      if (error.name === "AbortError" || number !== this.asked) return;
      if (error.status === 429) return this.later(400);
      this.resultView.error(error, () => this.run());
    }
  }

  /** Who may edit can save a mapping of their own that a source uses. */
  offerSaving() {
    const row = this.mappings.find((one) => one.name === this.name && one.isEditable);
    const name = row && mayEdit(this.session) && this.base ? row.name : "";
    if (this.offered === name) return;
    this.offered = name;
    replace(this.saving, name && h("div", {class: "card controls"}, h("div", {class: "row"},
      h("span", {}, "Readings of ", row.sources.map((source, place) => [place > 0 && ", ", quoted(source)]), " are mapped by ", code(name), "."),
      h("button", {"data-key": "save", onclick: () => this.save(name)}, "Check, and save")),
    this.outcome = h("div", {class: "explained", role: "status"})));
  }

  async save(name) {
    const [button, outcome] = [this.saving.querySelector("button"), this.outcome];
    button.disabled = true;
    replace(outcome, soft("Its examples are run …"));
    try {
      const saved = await post("mappings/save", {name, deviceText: this.editors.device.area.value,
        fhirText: this.editors.fhir.area.value, ...this.base}, this.signal);
      if (this.name === name) {
        this.base = {deviceDigest: saved.deviceDigest, fhirDigest: saved.fhirDigest};
        this.keep();
      }
      replace(outcome, this.verdictOfSaving(saved));
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(outcome, h("p", {class: "hint bad"}, h("strong", {}, "✕ "), "Not saved: ", quoted(error.message)),
        error.code === "changed" && h("button", {"data-key": "again", onclick: () => this.openAgain(name)},
          "Open the files again, and leave what is typed here"));
    } finally {
      button.disabled = false;
    }
  }

  async openAgain(name) {
    const files = await this.files(name).catch(told(this.said));
    if (!files) return;
    this.base = files.base;
    this.editors.device.area.value = files.device;
    this.editors.fhir.area.value = files.fhir;
    replace(this.outcome);
    await this.run();
  }

  verdictOfSaving({isSaved, isInUse, findings, failures}) {
    const found = findings.map((text) => h("p", {class: "hint"}, quoted(text)));
    if (isSaved) {
      const [glyph, text] = isInUse === true ? ["✓ ", "Saved. Readings are mapped by it from now on."]
        : isInUse === false ? ["⚠ ", "Saved, but the instance still maps by the former files: its log says why."]
          : ["⚠ ", "Saved. The instance is still loading it: its log says when it is in use."];
      return [h("p", {}, h("strong", {}, glyph), text), found];
    }
    return [h("p", {class: "hint bad"}, h("strong", {}, "✕ "), failures.length
      ? `Not saved: ${counted(failures.length, "example")} would give something else.` : "Not saved: it cannot be used."), found,
    failures.map((one) => [h("p", {}, h("strong", {}, quoted(one.name))), h("pre", {tabindex: "0", "aria-label": `Differences of ${one.name}`},
      one.differences.join("\n"))])];
  }

  show({findings, output}, payload) {
    const document = output ? JSON.parse(output) : null;
    const list = findings.map((finding) => h("p", {class: `hint ${finding.severity === "error" ? "bad" : ""}`},
      h("strong", {}, finding.severity === "error" ? "✕ " : "⚠ "), quoted(`${finding.file}:${finding.line}:${finding.column}`), ": ",
      quoted(finding.message), finding.advice && ["; ", quoted(finding.advice)]));
    if (!document) {
      return this.resultView.loaded(card("The mapping cannot be used", h("div", {class: "explained"}, list)));
    }
    const explain = document.explain;
    const bytes = this.isHex ? unhex(payload) : new TextEncoder().encode(payload);
    const pre = (title, items) => card(`${counted(items.length, title)}`, items.length ? items.slice(0, 50).map((item) => h("pre", {tabindex: "0"}, visible(JSON.stringify(item, null, 2))))
        : h("p", {class: "soft"}, "None."));
    this.resultView.loaded(
      list.length > 0 && h("div", {class: "card explained"}, h("h2", {}, "Findings"), list),
      h("div", {class: "split even"},
        h("div", {class: "content"}, this.verdict(document), explain.documents.slice(0, 20).map((one) => new Explained(one, bytes).node)),
        h("div", {class: "content"}, pre("measurement", document.measurements ?? []),
          pre("Observation", document.observations ?? []), document.resources && pre("other resource", document.resources))));
  }

  verdict(document) {
    const {explain, measurements, rejected} = document;
    const hint = (text) => h("p", {class: "hint"}, quoted(text));
    if (explain.refused) {
      return h("div", {class: "card verdict critical"}, h("span", {class: "glyph", "aria-hidden": "true"}, "✕"),
        h("h2", {}, `The payload is refused at byte ${explain.refused.offset}`), h("p", {class: "soft"}, quoted(explain.refused.explanation)));
    }
    const bad = explain.rejections ?? [];
    const kind = bad.length || !measurements?.length ? "warning" : "";
    return h("div", {class: `card verdict ${kind}`}, h("span", {class: "glyph", "aria-hidden": "true"}, kind ? "!" : "✓"),
      h("h2", {}, `${counted(measurements?.length ?? 0, "reading")}, ${(rejected ?? []).length} rejected`),
      h("div", {class: "explained"}, bad.slice(0, 20).map((one) => [
        h("p", {}, h("strong", {}, one.reason), ": ", quoted(one.explanation), one.detail && h("span", {class: "soft"}, " (", quoted(one.detail), ")")),
        one.hint && hint(one.hint)]),
      explain.isCut && h("p", {class: "soft"}, "Not everything is explained: it takes too long.")));
  }
}

const hex = (bytes) => Array.from(bytes, (byte, place) =>
  byte.toString(16).padStart(2, "0") + (place % 32 === 31 ? "\n" : place % 8 === 7 ? " " : "")).join("").trim();

const unhex = (text) => new Uint8Array((text?.match(/[0-9a-fA-F]{2}/g) ?? []).map((pair) => parseInt(pair, 16)));

class Explained {
  constructor(document, payload) {
    this.bytes = document.decoded === undefined ? payload : new TextEncoder().encode(document.decoded);
    this.marks = [];
    const templates = document.templates;
    const matched = templates.filter((template) => template.outcome === "matched");
    const others = templates.filter((template) => template.outcome !== "matched");
    const lists = matched.map((template) => this.template(template));
    this.node = h("section", {class: "card explained", "aria-label": "What the templates made of it"},
      h("h2", {}, document.decoded === undefined ? "Matched bytes" : "Decoded, and what was matched"), this.text(document.start),
      lists, matched.length === 0 && others.filter((template) => template.isNearest).map((template) => this.other(template)),
      others.length > 0 && h("details", {}, h("summary", {}, counted(others.length, "template that did not match", "templates that did not match")),
        h("ul", {class: "explained"}, others.map((template) => h("li", {}, this.other(template))))));
  }

  text() {
    const decoder = new TextDecoder();
    const isBinary = this.bytes.some((byte) => byte < 9 || byte > 13 && byte < 32);
    const whole = [0, this.bytes.length];
    const show = (from, to) => isBinary ? hex(this.bytes.slice(from, to)) : visible(decoder.decode(this.bytes.slice(from, to)));
    const node = h("pre", {class: "matched", tabindex: "0"});
    const sorted = [...this.marks].sort((one, other) => one.start - other.start || other.end - one.end);
    const fill = (parent, from, to, marks) => {
      let place = from;
      while (marks.length && marks[0].start < to) {
        const mark = marks.shift();
        if (mark.end > to || mark.start < place) continue;
        parent.append(show(place, mark.start));
        const element = h("mark", {class: mark.isWhole ? "whole" : null, title: mark.title});
        fill(element, mark.start, mark.end, marks);
        mark.elements.push(element);
        parent.append(element);
        place = mark.end;
      }
      parent.append(show(place, to));
    };
    fill(node, ...whole, sorted);
    return node;
  }

  mark(part, title, isWhole = false) {
    if (part.start === undefined) return {};
    let mark = this.marks.find((one) => one.start === part.start && one.end === part.end);
    if (!mark) this.marks.push(mark = {start: part.start, end: part.end, title, isWhole, elements: []});
    else if (!mark.title.includes(title)) mark.title += `, ${title}`;
    const light = (isOn) => () => mark.elements.forEach((element) => {
      element.classList.toggle("lit", isOn);
      element.title = mark.title;
    });
    return {tabindex: "0", onmouseenter: light(true), onmouseleave: light(false), onfocus: light(true), onblur: light(false)};
  }

  head(template) {
    return h("p", {}, h("strong", {}, quoted(template.type)), h("span", {class: "soft small"}, " ", quoted(`${template.file} line ${template.line}`), " · "),
      code(template.expression));
  }

  template(template) {
    return h("div", {class: "explained"}, this.head(template),
      template.matches.slice(0, 20).map((match, place) => this.match(match, place, template)),
      template.matches.length > 20 && soft(`and ${template.matches.length - 20 + (template.matchesLeftOut ?? 0)} more matches`));
  }

  match(match, place, template) {
    const tag = {reading: ["good", "✓ a reading"], rejected: ["bad", "✕ rejected"], notEvaluated: ["", "– not evaluated"]}[match.outcome];
    this.mark(match, `match ${place + 1} of ${template.type}`, true);
    const row = (one) => h("tr", this.mark(one, one.role + (one.name ? ` ${one.name}` : "")),
      h("td", {}, one.role, one.name && [" ", quoted(one.name)]), h("td", {}, code(one.expression)),
      h("td", {}, one.problem ? [quoted(one.problem), one.meant && h("span", {class: "late"}, " Write ", code(one.meant))]
        : code(one.value === undefined ? `${one.valueBytes} bytes` : JSON.stringify(one.value))));
    return h("div", {class: "explained"},
      h("p", {}, h("span", {class: `tag ${tag[0]}`}, tag[1]), " ", match.reason && [h("strong", {}, match.reason), ": ", quoted(match.explanation)],
        match.values?.map(({name, text}, index) => [index ? ", " : "", quoted(name), " = ", code(text)])),
      match.hint && h("p", {class: "hint"}, quoted(match.hint)),
      match.conversions?.map(({name, from, to}) => h("p", {class: "small"}, quoted(name), " was converted from ", code(from), " to ", code(to))),
      table(`Expressions of match ${place + 1}`, ["For", "Expression", "Gave"], match.expressions.map(row)));
  }

  other(template) {
    return h("div", {class: "explained"}, this.head(template),
      template.failure && h("p", {class: "hint bad"}, quoted(template.failure)),
      template.meant && h("p", {class: "hint"}, "Did you mean ", code(template.meant), "?"),
      template.names && h("p", {class: "small"}, template.names.map((name, place) => [place ? " · " : "", quoted(name.name), ": ",
        name.problem ? h("span", {class: "late"}, quoted(name.problem)) : code(JSON.stringify(name.value))])));
  }
}
