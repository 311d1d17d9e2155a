// What needs attention first, then where readings end, how many come, and each source and sink.

import {h, patch, replace, quoted} from "../dom.js";
import {live, subscribe} from "../live.js";
import {isPage} from "../pages.js";
import {throughput, throughputTable} from "../chart.js";
import {age, bytes, clock, count, counted, short, time} from "../format.js";

const words = {
  critical: {tag: "bad", glyph: "✕", word: "Critical"}, warning: {tag: "warn", glyph: "⚠", word: "Warning"},
  notice: {tag: "", glyph: "i", word: "Notice"},
};

export default {
  open({view, signal}) {
    const parts = Object.fromEntries(["verdict", "balance", "flow", "windows", "sources", "sinks", "store"]
      .map((name) => [name, h("section", {"data-part": name})]));
    const table = h("details", {}, h("summary", {"data-key": "table"}, "Show as a table"), h("div"));
    const curve = h("div", {class: "curve"});
    replace(parts.flow, h("div", {class: "card"}, curve, table));
    table.addEventListener("toggle", () => show());
    // Says the verdict when it changes, and not each second.
    const said = h("p", {class: "gone", role: "status"});
    let isShown = false;

    function show() {
      const {snapshot, samples} = live;
      if (!snapshot) return;
      const {title, nodes} = verdict(snapshot);
      if (said.textContent !== title) said.textContent = title;
      patch(parts.verdict, nodes);
      patch(parts.balance, balance(snapshot));
      patch(curve, flow(snapshot, samples));
      if (table.open) patch(table.lastChild, throughputTable(samples));
      patch(parts.windows, windows(snapshot.windows, snapshot.missing));
      patch(parts.sources, h("h2", {class: "gone"}, "Sources"), h("div", {class: "grid"},
        snapshot.sources.map((source) => sourceCard(source, snapshot))));
      patch(parts.sinks, h("h2", {class: "gone"}, "Sinks"), h("div", {class: "grid"}, snapshot.sinks.map(sinkCard)));
      patch(parts.store, store(snapshot.store, snapshot));
    }

    subscribe(() => {
      if (!live.snapshot) return;
      // The shell says that nothing comes any more; what came last is shown all the same.
      if (isShown && live.isStale) return;
      show();
      if (isShown) return view.fresh();
      isShown = true;
      view.loaded(said, parts.verdict,
        h("div", {class: "split even"}, h("div", {class: "stack"}, parts.balance, parts.windows), parts.flow),
        parts.sources, parts.sinks, parts.store);
      if (live.isStale) view.stale(clock(live.at));
    }, signal);
    // Nothing comes at once from an instance that is gone.
    const wait = setTimeout(() => {
      if (!live.snapshot) view.error(new Error("The instance sends no counts. "
        + `${live.problem || "It may have ended."} This page goes on trying.`));
    }, 5000);
    signal.addEventListener("abort", () => clearTimeout(wait));
  },
};

function verdict({attention, sources, gapSearch}) {
  const worst = attention[0]?.severity;
  const urgent = attention.filter((item) => item.severity !== "notice").length;
  const notices = attention.length - urgent;
  const [style, glyph, title] = !worst ? ["", "✓", "All is well"]
    : worst === "notice" ? ["notice-only", "✓", `Running; ${counted(attention.length, "notice")}`]
      : [worst, words[worst].glyph, `${counted(urgent, "problem")} ${urgent === 1 ? "needs" : "need"} attention`];
  return {title, nodes: [
    h("div", {class: `card verdict ${style}`},
      h("span", {class: "glyph", "aria-hidden": "true"}, glyph), h("h2", {}, title),
      h("p", {class: "soft small"}, !worst ? `${received(sources)}; sinks work, and every reading is accounted for.`
        : urgent === 0 ? `${received(sources)}; sinks work. What follows is worth a look.`
          : notices > 0 ? `The most important first; ${counted(notices, "notice")} besides.` : "The most important first.")),
    attention.length > 0 && h("ul", {class: "card attention"}, attention.map((item) => h("li", {"data-key": `${item.link ?? ""} ${item.title.replace(/\d+/g, "")}`},
      h("span", {}, h("span", {class: `tag ${words[item.severity].tag}`},
        h("span", {"aria-hidden": "true"}, words[item.severity].glyph), words[item.severity].word)),
      h("div", {}, h("h3", {}, quoted(item.title)), item.text && h("p", {}, quoted(item.text))),
      isPage(item.link) && h("a", {href: `#/${item.link}`, "data-key": item.link,
        "aria-label": `Show ${item.title}`}, "Show")))),
    searched(gapSearch),
  ]};
}

/** What of the store was not looked at for gaps, and is not in the list for that; nothing where all was. */
function searched({looked, devices, isCut}) {
  const parts = [looked < devices && `of ${counted(devices, "device")}, ${count(looked)} ${looked === 1 ? "was" : "were"} looked at so far`,
    isCut && `only the ${count(devices)} that the store has got to know last are looked at`].filter(Boolean);
  return parts.length > 0 && h("p", {class: "soft small", "data-key": "searched"}, `◐ Gaps in readings: ${parts.join("; ")}.`);
}

/** How many of the sources have brought anything: what is known, and no more. */
function received(sources) {
  const known = sources.filter((source) => source.lastSeen !== undefined).length;
  return known === sources.length ? `${counted(known, "source")} ${known === 1 ? "has" : "have"} received`
    : `${count(known)} of ${counted(sources.length, "source")} ${known === 1 ? "has" : "have"} received`;
}

function balance({balance: numbers}) {
  const terms = [
    ["accepted", "accepted", numbers.accepted], ["same", "duplicate", numbers.duplicate],
    ["amended", "conflict", numbers.conflict], ["rejected", "rejected", numbers.rejected],
    ["missing", "in flight", numbers.inFlight],
  ];
  const term = (style, name, number) => h("div", {class: number > 0 ? style : "zero"}, h("dt", {},
    style && number > 0 && h("i", {class: `patch ${style}`, "aria-hidden": "true"}), name), h("dd", {},
    name === "rejected" && number > 0
      ? h("a", {href: "#/letters", "data-key": "rejected", "aria-label": `${count(number)} rejected: show dead letters`},
        count(number))
      : count(number)));
  const bar = h("div", {class: "bar", "aria-hidden": "true"});
  const all = Math.max(1, numbers.received);
  for (const [style, , number] of terms) {
    if (number <= 0) continue;
    const part = h("i", {class: style});
    part.style.width = `${number / all * 100}%`;
    bar.append(part);
  }
  const isWhole = numbers.imbalance === 0;
  return h("div", {class: "card"},
    h("div", {class: "row spread"}, h("h2", {}, "Where readings ended"),
      h("span", {class: `tag ${isWhole ? "good" : "bad"}`}, isWhole ? "✓ all accounted for"
        : `✕ ${count(numbers.imbalance)} unaccounted for`)),
    h("dl", {class: "equation"}, term("", "received", numbers.received),
      terms.flatMap(([style, name, number], place) => [
        h("span", {"aria-hidden": "true"}, place ? "+" : "="), term(style, name, number)])),
    bar);
}

function flow(snapshot, samples) {
  return [
    h("div", {class: "row spread"}, h("h2", {}, "Throughput"),
      h("span", {class: "legend"}, h("span", {class: "key"}, "received"), h("span", {class: "key rejected"}, "rejected"))),
    h("p", {class: "row"}, h("span", {class: "big"}, short(snapshot.rate)), h("span", {class: "soft"}, "readings a second")),
    throughput(samples, snapshot.sample.time)];
}

const colour = (name, number) => number > 0 ? name : "zero";
const fact = (name, text, style = "") => h("div", {}, h("dt", {}, name), h("dd", {class: style}, text));

function windows(numbers, missing) {
  return h("div", {class: "card"}, h("h2", {}, "Windows and Observations"),
    h("dl", {class: "facts"},
      fact("windows open", count(numbers.open)), fact("windows written", count(numbers.written)),
      fact("↻ amended", count(numbers.amended), colour("amended", numbers.amended)),
      fact("◷ late readings", count(numbers.late), colour("late", numbers.late)),
      fact("◌ missing frames", count(missing), colour("missing", missing)), fact("Observations", count(numbers.observations))));
}

function sourceCard(source, {sample, silentAfter}) {
  const silence = source.lastSeen === undefined ? null : sample.time - source.lastSeen;
  // Amber from the same time on as it is a problem above.
  const [style, word] = silence === null ? ["", "○ nothing yet"]
    : silence < 60 ? ["good", "● receiving"]
      : silentAfter === 0 || silence < silentAfter ? ["", `○ nothing for ${age(silence)}`]
        : ["warn", `◔ silent for ${age(silence)}`];
  return h("article", {class: "card", "data-key": `source ${source.name}`},
    h("div", {class: "row spread"}, h("h3", {}, h("span", {class: "soft"}, "Source "), quoted(source.name)),
      h("span", {class: `tag ${style}`}, word)),
    h("dl", {class: "facts"},
      fact("readings /s", short(source.readings)), fact("received", short(source.received)),
      fact("rejected", source.rejected > 0 ? h("a", {href: `#/letters?source=${encodeURIComponent(source.name)}`,
        "data-key": `rejected ${source.name}`, "aria-label": `${count(source.rejected)} rejected at ${source.name}`},
      short(source.rejected)) : "0", source.rejected > 0 ? "rejected" : ""),
      fact("dropped", count(source.dropped), source.dropped > 0 ? "rejected" : ""),
      fact("last seen", silence === null ? "–" : silence < 2 ? "now" : `${age(silence)} ago`),
      source.connections !== undefined && fact("connections", count(source.connections))));
}

function sinkCard(sink) {
  const isWaiting = sink.circuit === "probing";
  const [style, word] = isWaiting ? ["", "○ connecting"] : sink.isUp ? ["good", "● up"] : ["bad", "✕ down"];
  return h("article", {class: "card", "data-key": `sink ${sink.name}`},
    h("div", {class: "row spread"}, h("h3", {}, h("span", {class: "soft"}, "Sink "), quoted(sink.name)),
      h("span", {class: `tag ${style}`}, word)),
    h("dl", {class: "facts"},
      sink.entries !== undefined && fact("entries /s", short(sink.entries)),
      sink.delivered !== undefined && fact("delivered", short(sink.delivered)),
      sink.undeliverable !== undefined && fact("refused", sink.undeliverable > 0
        ? h("a", {href: `#/letters?source=${encodeURIComponent(sink.name)}`, "data-key": `refused ${sink.name}`,
          "aria-label": `${count(sink.undeliverable)} refused by ${sink.name}`}, short(sink.undeliverable))
        : "0", sink.undeliverable > 0 ? "rejected" : ""),
      fact("waiting", count(sink.waiting), sink.waiting > 0 && !sink.isUp ? "late" : ""),
      sink.oldestAge !== undefined && fact("oldest", age(sink.oldestAge))),
    sink.trouble && h("p", {class: "small rejected"}, "✕ ", quoted(sink.trouble),
      sink.troubleSince && ` (since ${time(sink.troubleSince)})`));
}

function store(numbers, snapshot) {
  const part = numbers.limitBytes > 0 ? numbers.usedBytes / numbers.limitBytes : 0;
  const fill = h("i");
  fill.style.width = `${Math.min(100, part * 100)}%`;
  const percent = part > 0 && part < 0.01 ? "under 1" : Math.round(part * 100);
  return h("div", {class: "card"},
    h("div", {class: "row spread"}, h("h2", {}, "Store"),
      h("span", {class: "small soft"}, `running since ${time(snapshot.started)} UTC`)),
    h("div", {class: `meter ${part >= 0.95 ? "bad" : part >= 0.8 ? "warn" : ""}`, role: "img",
      "aria-label": `${percent} percent of the store are used`}, fill),
    h("dl", {class: "facts"},
      fact("used", `${bytes(numbers.usedBytes)} (${percent} %)`), fact("of", bytes(numbers.limitBytes)),
      fact("windows", short(numbers.windows)), fact("outbox", count(numbers.outboxRows)),
      fact("dead letters", numbers.deadLetters > 0
        ? h("a", {href: "#/letters", "data-key": "dead"}, count(numbers.deadLetters)) : "0"),
      fact("lost", count(numbers.lost), numbers.lost > 0 ? "rejected" : "")));
}
