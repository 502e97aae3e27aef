// Elements are made from data as text only: nothing from data is ever read as HTML.
const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

const storedJson = (element) => JSON.parse(element.textContent);
const outcomeWords = storedJson(find("#outcome-words"));
const wordsFor = (outcome) => (Object.hasOwn(outcomeWords, outcome) ? outcomeWords[outcome] : { label: outcome, symbol: "#", tone: "plain" });
const outcomeMark = (outcome) => make("span", { class: `cell ${wordsFor(outcome).tone}`, "aria-hidden": "true" }, wordsFor(outcome).symbol);
// JSON on one line, with room to break it.
const shownValue = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1).replace(/\n\s*/g, " "));

// What is chosen is in the address, so that a link shows what its sender saw.
const chosen = (name) => new URLSearchParams(location.search).get(name);
const choose = (name, value) => {
  const all = new URLSearchParams(location.search);
  if (value) all.set(name, value);
  else all.delete(name);
  const query = all.toString();
  try {
    history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
  } catch {
    // Some browsers keep the address of a page from a disk as it is.
  }
};

const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the right to use the clipboard, the browser's own command is left.
    const area = make("textarea", { class: "skip" });
    area.value = text;
    (find("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};

// What is folded is copied as well.
const wholeText = (element) => {
  const folded = findAll("details:not([open])", element);
  for (const one of folded) one.open = true;
  const text = element.innerText;
  for (const one of folded) one.open = false;
  return text;
};

const setUpCopy = (button) => {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await copyText(wholeText(find(`#${button.dataset.copy}`)));
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
};
