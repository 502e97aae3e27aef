// What is open is in the address: a link to a conversation can be kept and sent.
const dialog = find("#conversation");
const linkTo = (hash) => findAll(".grid a.cell").find((cell) => cell.getAttribute("href") === hash);
let opener = null;

const showPlace = () => {
  const link = location.hash ? linkTo(location.hash) : null;
  if (!link || !fillConversation(link.dataset)) {
    if (dialog.open) dialog.close();
    return;
  }
  if (dialog.open) return;
  opener = document.activeElement;
  dialog.showModal();
  find("#conversation-title").focus();
};

const goBy = (step) => {
  const links = findAll(".grid a.cell").map((cell) => cell.getAttribute("href"));
  const next = links[links.indexOf(location.hash) + step];
  if (next) location.replace(next);
};

// A modal dialog stays on one page of paper; a copy in the flow of the page does not.
const setUpPrinting = () => {
  let folded = [];
  let copy = null;
  window.addEventListener("beforeprint", () => {
    folded = findAll("main details:not([open]):not(.values)");
    for (const one of folded) one.open = true;
    if (!dialog?.open) return;
    copy = make("div", { class: "printed" }, make("h1", {}, `${find("#title").textContent}: ${find("#conversation-title").textContent}, ${find("#conversation-outcome").lastChild.textContent.toLowerCase()}`), find(".dialog-body").cloneNode(true));
    for (const one of findAll("details", copy)) one.open = true;
    document.body.append(copy);
  });
  window.addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
    copy?.remove();
    copy = null;
  });
};

const setUpConversations = () => {
  // The address goes back to the page without moving it.
  dialog.addEventListener("close", () => {
    if (linkTo(location.hash)) history.replaceState(null, "", location.pathname + location.search);
    opener?.focus?.({ preventScroll: true });
  });
  find("#close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  find("#previous").addEventListener("click", () => goBy(-1));
  find("#next").addEventListener("click", () => goBy(1));
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.key === "ArrowLeft") goBy(-1);
    if (event.key === "ArrowRight") goBy(1);
  });
  window.addEventListener("hashchange", showPlace);
  showPlace();
};

// The contents show which part is being read.
const setUpContents = () => {
  const links = new Map(findAll(".contents a").map((link) => [link.hash.slice(1), link]));
  const visible = new Set();
  const watch = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) visible[isIntersecting ? "add" : "delete"](target.id);
      const first = [...links.keys()].find((id) => visible.has(id));
      for (const [id, link] of links) link.toggleAttribute("data-read", id === first);
    },
    { rootMargin: "-15% 0px -60% 0px" },
  );
  for (const id of links.keys()) watch.observe(document.getElementById(id));
};

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
setTheme(chosen("theme") ?? remembered());
themeButton.hidden = false;

for (const table of findAll("table:has([data-sort])")) setUpSorting(table);
for (const list of findAll("[data-shown]")) setUpList(list);
for (const grid of findAll(".grid")) setUpGrid(grid);
for (const button of findAll("[data-copy]")) setUpCopy(button);
setUpContents();
setUpPrinting();
if (dialog) setUpConversations();
