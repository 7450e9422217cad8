// Building and changing elements: text goes in as text, and what is the same already is left alone.

/** @typedef {Readonly<Record<string, string | boolean>>} Attributes */

/**
 * A new element. An attribute of `true` is set, one of `false` is not.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * A new element of SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * The element of the page with this ID.
 * @param {string} id
 */
export function byId(id) {
  return kindById(id, HTMLElement);
}

/**
 * The element of the page with this ID and of this kind.
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function kindById(id, kind) {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no #${id} of this kind`);
}

/**
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {Element} target
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(target, name, value) {
  if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

/**
 * @param {Element} target
 * @param {boolean} isHidden
 */
export function setHidden(target, isHidden) {
  if (target.hasAttribute('hidden') !== isHidden) target.toggleAttribute('hidden', isHidden);
}

/**
 * Gives a parent exactly one child for each key, in this order. Children that stay are not touched, so that what has the
 * focus keeps it; when a child with the focus goes, `refuge` gets it. They stand behind the child
 * `after`, or are the only ones.
 * @template Value
 * @template {{ readonly root: Element }} Part
 * @param {{
 *   parent: Element,
 *   after?: Element | null,
 *   parts: Map<string, Part>,
 *   values: ReadonlyMap<string, Value>,
 *   make: (key: string, value: Value) => Part,
 *   refuge?: HTMLElement,
 * }} options
 */
export function syncParts({ parent, after = null, parts, values, make, refuge }) {
  for (const [key, { root }] of parts) {
    if (values.has(key)) continue;
    const hadFocus = root.contains(document.activeElement);
    root.remove();
    parts.delete(key);
    if (hadFocus) refuge?.focus();
  }
  let at = after === null ? parent.firstElementChild : after.nextElementSibling;
  for (const [key, value] of values) {
    const part = parts.get(key) ?? make(key, value);
    parts.set(key, part);
    if (part.root === at) at = at.nextElementSibling;
    else parent.insertBefore(part.root, at);
  }
}

/**
 * @param {Element} made
 * @param {Attributes} attributes
 */
function setAttributes(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? '' : value);
  }
}
