// Elements. Text is only ever set as text: nothing here, and nothing in a page, parses HTML.

/** An element: h("p", {class: "note", onclick: f}, "text", child). Null and false children are left out. */
export function h(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same in SVG. */
export function svg(tag, props, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(String(child));
  }
}

/** Puts `children` in place of what `element` has; what has the same key="…" and text stays, and keeps the focus. */
export function replace(element, ...children) {
  const kept = document.activeElement?.closest?.("[data-key]");
  const key = element.contains(kept) ? kept.dataset.key : null;
  element.replaceChildren();
  add(element, children);
  if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Makes what `element` has the same as `children`, and keeps each node that stays: a link that is pressed, focused or
 *  selected is the same afterwards. Nodes are found again by data-key, and others by their place. Listeners of
 *  `children` are not taken over. */
export function patch(element, ...children) {
  const fresh = h("div", {}, children);
  match(element, [...fresh.childNodes]);
}

const key = (node) => node?.dataset?.key;
const isLike = (one, other) => one?.nodeName === other.nodeName && key(one) === key(other);

function after(node) {
  const found = [];
  for (let next = node; next; next = next.nextSibling) found.push(next);
  return found;
}

function match(element, fresh) {
  const keys = new Set(fresh.map(key));
  let place = element.firstChild;
  for (const node of fresh) {
    while (key(place) !== undefined && !keys.has(key(place))) {
      const gone = place;
      place = place.nextSibling;
      gone.remove();
    }
    const known = isLike(place, node) ? place
      : key(node) !== undefined && after(place).find((other) => isLike(other, node));
    if (!known) {
      element.insertBefore(node, place);
      continue;
    }
    if (known === place) place = place.nextSibling;
    else element.insertBefore(known, place);
    update(known, node);
  }
  while (place) {
    const gone = place;
    place = place.nextSibling;
    gone.remove();
  }
}

function update(known, node) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (known.data !== node.data) known.data = node.data;
    return;
  }
  for (const {name} of [...known.attributes]) if (!node.hasAttribute(name)) known.removeAttribute(name);
  for (const {name, value} of node.attributes) {
    if (known.getAttribute(name) === value) continue;
    // The policy forbids the attribute, and not the property.
    if (name === "style") known.style.cssText = value;
    else known.setAttribute(name, value);
  }
  match(known, [...node.childNodes]);
}

/** What a person typed or a device sent, shown in its own direction so that it cannot reorder what is around it. */
export function quoted(text, props) {
  return h("bdi", {class: "quoted", ...props}, visible(text));
}

/** `text` with control and direction characters made visible: they could hide a part of it. */
export function visible(text) {
  return String(text ?? "").replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => "\u27e8U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u27e9");
}

/** Goes to the heading of `panel`, opened by keys from the element with this data-key; leave() goes back there. */
export function enter(panel, key) {
  panel.dataset.opener = key;
  const heading = panel.querySelector("h2");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({preventScroll: true});
  panel.scrollTop = 0;
}

/** Goes back to what has opened the panel that has the focus; whether there is such a panel. */
export function leave() {
  const key = document.activeElement?.closest("[data-opener]")?.dataset.opener;
  const opener = key && document.querySelector(`main [data-key="${CSS.escape(key)}"]`);
  opener?.focus();
  return Boolean(opener);
}

/** Whether a click was made by a key. */
export const isByKey = (event) => event?.detail === 0;

/** A question that must be answered: resolves to whether it was. */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    const dialog = h("dialog", {"aria-labelledby": "dialog-title"},
      h("form", {method: "dialog"},
        h("h2", {id: "dialog-title"}, title), h("p", {}, text),
        h("p", {class: "buttons"},
          h("button", {value: "cancel"}, "Cancel"), h("button", {value: "do", class: "strong"}, action))));
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "do");
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
