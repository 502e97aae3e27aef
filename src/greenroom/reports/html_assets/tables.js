// Long lists: a search field, a choice, and a button for all that is not shown at first.
const setUpList = (list) => {
  const tools = find(`[data-list="${list.id}"]`);
  const more = find(`[data-more="${list.id}"]`);
  if (!tools) return;
  const search = find('[data-filter="text"]', tools);
  const choice = find("select", tools);
  const said = find("output", tools);
  let limit = Number(list.dataset.shown);
  const matches = (row, words) => {
    if (choice.value && row.dataset[choice.dataset.filter] !== choice.value) return false;
    if (!words.length) return true;
    row.searched ??= `task ${row.dataset.task} ${row.textContent}`.toLowerCase();
    return words.every((word) => (/^\d+$/.test(word) ? row.dataset.task === word || (word.length > 3 && row.searched.includes(word)) : row.searched.includes(word)));
  };
  const update = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...list.children];
    let found = 0;
    for (const row of rows) {
      const fits = matches(row, words);
      found += fits;
      row.hidden = !fits || found > limit;
    }
    const shown = Math.min(found, limit);
    said.textContent = found === rows.length && shown === found ? `${found} shown` : `${shown} of ${found} shown`;
    more.hidden = shown === found;
    more.textContent = `Show all ${found}`;
  };
  search.addEventListener("input", update);
  choice.addEventListener("input", update);
  more.addEventListener("click", () => {
    limit = Infinity;
    update();
  });
  list.addEventListener("reordered", update);
  update();
};

const numberOf = (cell) => (cell?.dataset.value === undefined ? NaN : Number(cell.dataset.value));

// What has no value stays at the end, whichever way the rest is sorted.
const sortRows = (body, place, descending) => {
  const rows = [...body.children].map((row) => [row, numberOf(row.children[place])]);
  rows.sort(([, left], [, right]) => {
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
    return descending ? right - left : left - right;
  });
  body.append(...rows.map(([row]) => row));
  body.dispatchEvent(new Event("reordered"));
};

const setUpSorting = (table) => {
  const heads = findAll("thead th", table);
  for (const [place, head] of heads.entries()) {
    find("button", head)?.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortRows(table.tBodies[0], place, descending);
    });
  }
};

// A long instruction opens where it stands.
const setUpClamped = () => {
  document.addEventListener("click", (event) => {
    event.target.closest?.(".clamped")?.classList.toggle("open");
  });
};

// The grid is one stop for the Tab key; the arrow keys move within it.
const setUpGrid = (grid) => {
  const columns = () => [...grid.children];
  const cells = findAll("a.cell", grid);
  let current = cells[0];
  for (const cell of cells) cell.tabIndex = cell === current ? 0 : -1;
  const moveTo = (cell) => {
    if (!cell?.matches("a.cell")) return;
    current.tabIndex = -1;
    current = cell;
    current.tabIndex = 0;
    current.focus();
  };
  grid.addEventListener("focusin", (event) => {
    if (!event.target.matches("a.cell") || event.target === current) return;
    current.tabIndex = -1;
    current = event.target;
    current.tabIndex = 0;
  });
  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !current) return;
    const column = current.parentElement;
    const place = [...column.children].indexOf(current);
    const across = { ArrowLeft: column.previousElementSibling, ArrowRight: column.nextElementSibling, Home: columns()[0], End: columns().at(-1) };
    const along = { ArrowUp: current.previousElementSibling, ArrowDown: current.nextElementSibling };
    if (event.key in across) moveTo(across[event.key]?.children[place]);
    else if (event.key in along) moveTo(along[event.key]);
    else return;
    event.preventDefault();
  });
  for (const button of findAll("[data-order]")) {
    button.addEventListener("click", () => {
      for (const other of findAll("[data-order]")) other.setAttribute("aria-pressed", String(other === button));
      const byRate = button.dataset.order === "rate";
      const rate = (column) => (column.dataset.rate === "" ? 2 : Number(column.dataset.rate));
      grid.append(...columns().sort((left, right) => (byRate && rate(left) - rate(right)) || left.dataset.task - right.dataset.task));
    });
  }
};
