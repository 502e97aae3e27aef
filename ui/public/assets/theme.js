// Runs before anything is painted, so that a page never flashes in the other theme.
try {
  const theme = localStorage.getItem("greenroom.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing follows the system.
}
