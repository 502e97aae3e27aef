// Conversations are made when they are opened, from the data of their task.
const STOP = "###STOP###";
const LONG = 320;
const dialog = find("#conversation");
const read = new Map();

const taskData = (task) => {
  if (!read.has(task)) {
    const script = find(`script[data-task="${task}"]`);
    read.set(task, script ? storedJson(script) : null);
  }
  return read.get(task);
};

const argumentList = (kwargs) => {
  const entries = Object.entries(kwargs);
  if (!entries.length) return null;
  return make("dl", { class: "arguments" }, entries.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, shownValue(value)))));
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
  const pretty = prettyJson(text);
  const shown = make("pre", {}, pretty ?? text);
  if ((pretty ?? text).length <= LONG) return make("div", { class: "answer" }, text === "" ? make("span", { class: "quiet" }, "(empty answer)") : shown);
  const summary = make("summary", {}, `Answer${pretty ? " (JSON)" : ""}, ${sizeOf(text)}`);
  return make("div", { class: "answer" }, make("details", {}, summary, shown));
};

const bubble = (who, text, problem = null) => {
  const [said, ...rest] = text.split(STOP);
  const words = `${said}${rest.join(STOP)}`.trim();
  return make(
    "li",
    { class: `bubble ${who.toLowerCase()}`, "data-who": who.toLowerCase() },
    make("span", { class: "who" }, who),
    words,
    rest.length ? make("span", { class: "ended" }, "ends the conversation") : null,
    problem ? make("p", { class: "flag" }, `Not valid: ${problem}`) : null,
  );
};

const toolCall = (step, text) => {
  const failed = step.invalid !== null || /^Error\b/.test(text);
  return make(
    "li",
    { class: `call${failed ? " problem" : ""}`, "data-tool": step.name, "data-invalid": step.invalid !== null },
    make("div", { class: "call-head" }, make("code", { class: "tool" }, step.name), step.writes ? make("span", { class: "badge" }, "changes the database") : null),
    argumentList(step.kwargs),
    step.invalid === null ? null : make("p", { class: "flag" }, `Not a valid action: ${step.invalid}`),
    step.invalid === text ? null : answer(text),
  );
};

// A turn runs from a message of the user to the agent's reply, so its line stands above that message.
const conversationItems = (episode, texts) => {
  const { steps } = episode;
  const items = [];
  let turn = null;
  const beginTurn = (step) => {
    if (step && step.turn !== turn) items.push(make("li", { class: "turn" }, `Turn ${step.turn}`));
    turn = step?.turn ?? turn;
  };
  beginTurn(steps[0]);
  if (episode.opening) items.push(bubble("User", episode.opening));
  for (const [place, step] of steps.entries()) {
    beginTurn(step);
    const text = texts[step.answer];
    if (step.name === "respond" && typeof step.kwargs.content === "string") {
      items.push(bubble("Agent", step.kwargs.content, step.invalid));
      beginTurn(steps[place + 1]);
      if (step.source === "user" && step.invalid === null) items.push(bubble("User", text));
    } else items.push(toolCall(step, text));
  }
  if (!items.length) items.push(make("li", { class: "quiet" }, "Nothing was said."));
  return items;
};

const part = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);
const check = (good, ...children) => make("li", { class: "check" }, make("span", { class: `sign ${good ? "yes" : "no"}`, "aria-hidden": "true" }, good ? "✓" : "×"), make("div", {}, ...children));

const sameValue = (left, right) => {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || !left || !right || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]));
};

const groundTruth = (task, episode) => {
  if (!task.actions.length) return part("Ground truth", make("p", { class: "quiet" }, "The task asks for no action."));
  const items = task.actions.map((action) => {
    const done = episode.steps.some((step) => step.name === action.name && step.invalid === null && sameValue(step.kwargs, action.kwargs));
    return check(
      done,
      make("code", { class: "tool" }, action.name),
      action.writes ? make("div", { class: "quiet" }, "changes the database") : null,
      argumentList(action.kwargs),
      done ? null : make("div", { class: "quiet" }, "not done exactly so"),
    );
  });
  return part("Ground truth", make("ol", { "data-testid": "ground-truth" }, items));
};

const outputs = (details) => {
  const entries = Object.entries(details.outputs);
  if (!entries.length) return null;
  const items = entries.map(([output, heard]) => {
    const loose = heard && details.strict_outputs[output] === false;
    return check(heard, make("code", {}, output), make("span", { class: "quiet" }, loose ? " heard, but only inside a longer word or number" : heard ? " heard" : " not heard"));
  });
  return part("What the user has to hear", make("ul", { "data-testid": "required-outputs" }, items));
};

const difference = (one) => {
  const side = (name) => make("dd", {}, one.absent === name ? "not there" : shownValue(one[name]));
  const place = `${one.table}[${one.record}]${one.path ? `.${one.path}` : ""}`;
  return make("li", { class: "difference" }, make("code", {}, place), make("dl", {}, make("dt", {}, "expected"), side("expected"), make("dt", {}, "found"), side("actual")));
};

const database = (details) => {
  if (details.database) return part("Database", make("ul", {}, check(true, "as the ground truth leaves it")));
  const items = details.differences.map(difference);
  return part("Database", make("ul", {}, check(false, "not as the ground truth leaves it")), make("ul", { "data-testid": "database-differences" }, items));
};

const asideParts = (task, episode) => {
  const { diagnosis, details, error } = episode;
  const why = diagnosis && make("section", { class: "why", "data-testid": "conversation-why" }, make("h3", {}, diagnosis.kind), make("p", {}, diagnosis.explanation));
  const facts = make("dl", { class: "episode-facts" }, episode.facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  return [
    why,
    error === null ? null : part("Error", make("pre", {}, error)),
    part("The user's task", make("p", { class: "instruction-text" }, task.instruction), task.id ? make("p", { class: "quiet" }, task.id) : null),
    details && database(details),
    details && outputs(details),
    groundTruth(task, episode),
    part("Episode", facts),
  ].filter(Boolean);
};

const trialLinks = (task, episodes, trial) =>
  episodes.map((episode) => {
    const words = wordsFor(episode.outcome);
    return make(
      "a",
      { href: `#task-${task}-trial-${episode.trial}`, "aria-current": episode.trial === trial ? "true" : null, title: words.label },
      make("span", { class: `cell ${outcomeClass(episode.outcome)}`, "aria-hidden": "true" }, words.symbol),
      `trial ${episode.trial}`,
      make("span", { class: "skip" }, `, ${words.label}`),
    );
  });

const fillConversation = (task, trial) => {
  const data = taskData(task);
  const episode = data?.episodes.find((one) => one.trial === trial);
  if (!episode) return false;
  const words = wordsFor(episode.outcome);
  const badge = find("#conversation-outcome");
  find("#conversation-title").textContent = `Task ${task}, trial ${trial}`;
  badge.replaceChildren(make("span", { class: `cell ${outcomeClass(episode.outcome)}`, "aria-hidden": "true" }, words.symbol), words.label);
  badge.dataset.outcome = episode.outcome;
  find("#conversation-trials").replaceChildren(...trialLinks(task, data.episodes, trial));
  find("#conversation-steps").replaceChildren(...conversationItems(episode, data.texts));
  find("#conversation-aside").replaceChildren(...asideParts(data.tasks[episode.task], episode));
  find(".dialog-body").scrollTop = 0;
  return true;
};
