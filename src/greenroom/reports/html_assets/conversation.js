// Conversations are made when they are opened, from the block of their task or row.
const STOP = "###STOP###";
const LONG = 320;
const read = new Map();

const blockOf = (key) => {
  if (!read.has(key)) {
    const script = find(`script[data-block="${key}"]`);
    read.set(key, script ? storedJson(script) : null);
  }
  return read.get(key);
};

const valueList = (values) => {
  const entries = Object.entries(values ?? {});
  if (!entries.length) return null;
  return make("dl", { class: "values" }, entries.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, shownValue(value)))));
};

const prettyJson = (text) => {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
};

const sizeOf = (text) => (text.length < 1000 ? `${text.length} characters` : `${(text.length / 1000).toFixed(1)} thousand characters`);

const answer = (text) => {
  if (text === "") return make("div", { class: "answer quiet" }, "(empty answer)");
  const pretty = prettyJson(text);
  const shown = make("pre", {}, pretty ?? text);
  if ((pretty ?? text).length <= LONG) return make("div", { class: "answer" }, shown);
  return make("details", { class: "answer" }, make("summary", {}, `Answer${pretty ? " (JSON)" : ""}, ${sizeOf(text)}`), shown);
};

const bubble = ({ who, values, problem, finding }, text) => {
  const [said, ...rest] = (text ?? "").split(STOP);
  const words = `${said}${rest.join(STOP)}`.trim();
  return make(
    "li",
    { class: `bubble ${who === "User" || who === "Input" ? "theirs" : who === "System" ? "system" : "ours"}`, "data-who": who.toLowerCase() },
    make("span", { class: "who" }, who),
    prettyJson(words) ? make("pre", {}, prettyJson(words)) : words,
    valueList(values),
    rest.length ? make("span", { class: "ended" }, "ends the conversation") : null,
    problem ? make("p", { class: "flag" }, `Not valid: ${problem}`) : null,
    finding ? make("p", { class: "flag" }, `The user: ${finding}`) : null,
  );
};

const toolCall = ({ tool, kwargs, writes, invalid = null, by_user: byUser = false }, text) =>
  make(
    "li",
    { class: `call${byUser ? " by-user" : ""}${invalid !== null || /^Error\b/.test(text ?? "") ? " problem" : ""}`, "data-tool": tool },
    make("div", { class: "call-head" }, make("code", { class: "tool" }, tool), byUser ? make("span", { class: "badge" }, "by the user") : null, writes ? make("span", { class: "badge" }, "changes the database") : null),
    valueList(kwargs),
    invalid === null ? null : make("p", { class: "flag" }, `Not a valid action: ${invalid}`),
    text === null || invalid === text ? null : answer(text),
  );

const drawItem = (item, texts) => {
  const text = item.text === null || item.text === undefined ? null : texts[item.text];
  if (item.turn !== undefined) return make("li", { class: "turn" }, `Turn ${item.turn}`);
  return item.tool === undefined ? bubble(item, text) : toolCall(item, text);
};

const SIGNS = { true: ["yes", "✓"], false: ["no", "×"], null: ["", "·"] };
const drawCheck = ({ good, name, note, values }) => {
  const [style, sign] = SIGNS[good] ?? SIGNS.null;
  return make(
    "li",
    { class: "check" },
    make("span", { class: `sign ${style}`, "aria-hidden": "true" }, sign),
    make("div", {}, name === undefined ? null : make("code", { class: "tool" }, name), make("span", { class: name === undefined ? "" : "quiet" }, name === undefined ? note : ` ${note}`), valueList(values)),
  );
};

const drawDifference = ({ place, expected, found }) =>
  make("li", { class: "difference" }, make("code", {}, place), make("dl", {}, make("dt", {}, "expected"), make("dd", {}, shownValue(expected)), make("dt", {}, "found"), make("dd", {}, shownValue(found))));

const drawPart = (part, texts) =>
  make(
    "section",
    {},
    make("h3", {}, part.title),
    part.text === undefined ? null : make("p", { class: "long-text" }, texts[part.text]),
    part.empty ? make("p", { class: "quiet" }, part.empty) : null,
    part.checks?.length ? make("ul", {}, part.checks.map(drawCheck)) : null,
    part.differences?.length ? make("ul", {}, part.differences.map(drawDifference)) : null,
    valueList(part.values),
    part.facts ? make("dl", { class: "cell-facts" }, part.facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])) : null,
  );

const drawParts = (parts, texts) =>
  parts.map((part) => {
    const drawn = drawPart(part, texts);
    if (part.id) drawn.dataset.testid = part.id;
    return drawn;
  });

const drawWhy = ({ why, error }) => [
  ...why.map(({ kind, text }) => make("p", {}, make("b", {}, kind), " ", text)),
  error === null || why.some(({ text }) => text === error) ? null : make("pre", {}, error),
];

const fillConversation = ({ item, trial }) => {
  const block = blockOf(item);
  const cell = block?.cells.find((one) => String(one.trial) === trial);
  if (!cell) return false;
  const why = drawWhy(cell).filter(Boolean);
  find("#conversation-title").textContent = cell.title;
  find("#conversation-outcome").replaceChildren(outcomeMark(cell.outcome), wordsFor(cell.outcome).label);
  find("#conversation-outcome").dataset.outcome = cell.outcome;
  find("#conversation-trials").replaceChildren(...(block.cells.length > 1 ? block.cells.map((one) => trialLink(item, one, one === cell)) : []));
  find("#conversation-why").replaceChildren(...why);
  find("#conversation-why").hidden = !why.length;
  find("#conversation-items").replaceChildren(...(cell.items.length ? cell.items.map((one) => drawItem(one, block.texts)) : [make("li", { class: "quiet" }, "Nothing was said.")]));
  find("#conversation-aside").replaceChildren(...drawParts(cell.parts, block.texts));
  find(".dialog-body").scrollTop = 0;
  return true;
};

const trialLink = (item, cell, current) => {
  const link = find(`.grid a.cell[data-item="${item}"][data-trial="${cell.trial}"]`);
  const words = wordsFor(cell.outcome);
  return make("a", { href: link.getAttribute("href"), "aria-current": current ? "true" : null, title: words.label }, outcomeMark(cell.outcome), cell.name, make("span", { class: "skip" }, `, ${words.label}`));
};
