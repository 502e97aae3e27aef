// Long lists: a search field, a choice, and a button for what is not shown at first.
const setUpList = (list) => {
  const tools = find(`[data-list="${list.id}"]`);
  const more = find(`[data-more="${list.id}"]`);
  if (!tools) return;
  const search = find('[data-filter="text"]', tools);
  const choice = find("select", tools);
  const said = find("output", tools);
  const printed = find(`[data-said="${list.id}"]`);
  let limit = Number(list.dataset.shown);
  search.value = chosen(`${list.id}.find`) ?? "";
  if (choice) {
    choice.value = chosen(`${list.id}.only`) ?? "";
    if (choice.selectedIndex < 0) choice.value = "";
  }
  const matches = (row, words) => {
    if (choice?.value && row.dataset[choice.dataset.filter] !== choice.value) return false;
    row.searched ??= row.textContent.toLowerCase();
    // A short number is that of an item: it stands at the head of a row, and "5" does not find 15.
    const holds = (word) => (/^\d{1,3}$/.test(word) ? row.firstElementChild.textContent.split(/\D+/).includes(word) : row.searched.includes(word));
    return words.every(holds);
  };
  const update = () => {
    const words = search.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const rows = [...list.children];
    let found = 0;
    for (const row of rows) {
      const fits = matches(row, words);
      found += fits;
      row.hidden = !fits;
      // Paper has room for what a screen shows on demand.
      row.classList.toggle("beyond", fits && found > limit);
    }
    const shown = Math.min(found, limit);
    said.textContent = shown === rows.length ? `${found} shown` : `${shown} of ${found} shown`;
    more.hidden = shown === found;
    more.textContent = `Show all ${found}`;
    printed.textContent = found === rows.length ? "" : `${found} of ${rows.length}: only what was searched for.`;
    choose(`${list.id}.find`, search.value.trim());
    if (choice) choose(`${list.id}.only`, choice.value);
  };
  search.addEventListener("input", update);
  choice?.addEventListener("input", update);
  more.addEventListener("click", () => {
    limit = Infinity;
    update();
  });
  list.addEventListener("reordered", update);
  update();
};

const valueOf = (cell) => (cell?.dataset.value === undefined ? cell?.textContent.trim().toLowerCase() || null : Number(cell.dataset.value));
const before = (left, right) => (typeof left === "number" && typeof right === "number" ? left - right : String(left).localeCompare(String(right)));

// What has no value stays at the end, whichever way the rest is sorted.
const sortRows = (body, place, descending) => {
  const rows = [...body.children].map((row) => [row, valueOf(row.children[place])]);
  const lacks = (value) => value === null || value === "–";
  rows.sort(([, left], [, right]) => {
    if (lacks(left) || lacks(right)) return lacks(left) - lacks(right);
    return descending ? before(right, left) : before(left, right);
  });
  body.append(...rows.map(([row]) => row));
  body.dispatchEvent(new Event("reordered"));
};

const setUpSorting = (table) => {
  const heads = findAll("thead th", table);
  const name = `${table.tBodies[0].id}.sort`;
  const sortBy = (place, descending) => {
    for (const other of heads) other.removeAttribute("aria-sort");
    heads[place].setAttribute("aria-sort", descending ? "descending" : "ascending");
    sortRows(table.tBodies[0], place, descending);
  };
  for (const [place, head] of heads.entries()) {
    find("button", head)?.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      sortBy(place, descending);
      choose(name, `${place}${descending ? "-down" : ""}`);
    });
  }
  const [place, down] = (chosen(name) ?? "").split("-");
  if (place && find("button", heads[place] ?? table.tBodies[0])) sortBy(Number(place), down === "down");
};

// A long text opens where it stands.
const openText = (event) => event.target.closest?.(".clamped")?.classList.toggle("open");
document.addEventListener("click", openText);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter") openText(event);
});

// A grid is one stop for the Tab key; the arrow keys move within it.
const setUpGrid = (grid) => {
  const columns = () => [...grid.children];
  let current = find("a.cell", grid);
  for (const cell of findAll("a.cell", grid)) cell.tabIndex = cell === current ? 0 : -1;
  const enter = (cell) => {
    current.tabIndex = -1;
    current = cell;
    current.tabIndex = 0;
  };
  grid.addEventListener("focusin", (event) => {
    if (event.target.matches("a.cell")) enter(event.target);
  });
  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !current) return;
    const column = current.parentElement;
    const place = [...column.children].indexOf(current);
    const targets = {
      ArrowLeft: column.previousElementSibling?.children[place],
      ArrowRight: column.nextElementSibling?.children[place],
      Home: columns()[0].children[place],
      End: columns().at(-1).children[place],
      ArrowUp: current.previousElementSibling,
      ArrowDown: current.nextElementSibling,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    if (targets[event.key]?.matches("a.cell")) targets[event.key].focus();
  });
  const buttons = findAll(`[data-orders="${grid.id}"] button`);
  const order = (by) => {
    const score = (column) => (column.dataset.score === "" ? 2 : Number(column.dataset.score));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.order === by));
    grid.append(...columns().sort((left, right) => (by === "score" && score(left) - score(right)) || left.dataset.item - right.dataset.item));
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      order(button.dataset.order);
      choose(`${grid.id}.order`, button.dataset.order === "key" ? "" : button.dataset.order);
    });
  }
  if (chosen(`${grid.id}.order`) === "score") order("score");
};
