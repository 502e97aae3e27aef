// Elements are made from data as text only: nothing from data is ever read as HTML.
const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
};

const storedJson = (element) => JSON.parse(element.textContent);
const outcomeWords = storedJson(find("#outcome-words"));
const wordsFor = (outcome) => (Object.hasOwn(outcomeWords, outcome) ? outcomeWords[outcome] : { label: outcome, symbol: "#" });
const outcomeClass = (outcome) => (Object.hasOwn(outcomeWords, outcome) ? outcome : "unknown");
// JSON on one line, with room to break it.
const shownValue = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1).replace(/\n\s*/g, " "));
