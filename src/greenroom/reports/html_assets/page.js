// What is open is in the address: a link to a conversation can be kept and sent.
const placeOf = (hash) => /^#task-(-?\d+)-trial-(\d+)$/.exec(hash);
let opener = null;

const showPlace = () => {
  const place = placeOf(location.hash);
  if (!place || !fillConversation(Number(place[1]), Number(place[2]))) {
    if (dialog.open) dialog.close();
    return;
  }
  if (dialog.open) return;
  opener = document.activeElement;
  dialog.showModal();
  find("#conversation-title").focus();
};

// The address goes back to the page without moving it.
dialog.addEventListener("close", () => {
  if (placeOf(location.hash)) history.replaceState(null, "", location.pathname + location.search);
  opener?.focus?.({ preventScroll: true });
});
find("#close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

const placeOfCell = (cell) => cell.getAttribute("href");
const goBy = (step) => {
  const places = findAll("#outcome-grid a.cell").map(placeOfCell);
  const next = places[places.indexOf(location.hash) + step];
  if (next) location.replace(next);
};
find("#previous").addEventListener("click", () => goBy(-1));
find("#next").addEventListener("click", () => goBy(1));
dialog.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.key === "ArrowLeft") goBy(-1);
  if (event.key === "ArrowRight") goBy(1);
});
window.addEventListener("hashchange", showPlace);

// Light and dark follow the system until someone chooses; ?theme=dark chooses by address.
const themeButton = find("#theme");
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const remembered = () => {
  try {
    return localStorage.getItem("greenroom-theme");
  } catch {
    return null;
  }
};
const setTheme = (theme) => {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const dark = (document.documentElement.dataset.theme ?? (systemDark.matches ? "dark" : "light")) === "dark";
  themeButton.textContent = dark ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
};
themeButton.addEventListener("click", () => {
  const theme = themeButton.textContent.toLowerCase();
  setTheme(theme);
  try {
    localStorage.setItem("greenroom-theme", theme);
  } catch {
    // A page from a disk may not be allowed to remember; then it does not.
  }
});
systemDark.addEventListener("change", () => setTheme(null));
setTheme(new URLSearchParams(location.search).get("theme") ?? remembered());
themeButton.hidden = false;

for (const list of findAll("[data-shown]")) setUpList(list);
for (const table of findAll("table.tasks")) setUpSorting(table);
for (const grid of findAll("#outcome-grid")) setUpGrid(grid);
setUpClamped();
// The data of the tasks stands below this script.
document.addEventListener("DOMContentLoaded", showPlace);
