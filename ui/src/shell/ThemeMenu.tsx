import { useState } from "react";
import { Menu, MenuItem } from "../components/Menu";
import { store, stored } from "../storage";

const THEMES = { system: "As the system", light: "Light", dark: "Dark" } as const;
type Theme = keyof typeof THEMES;

function isTheme(value: string | null): value is Theme {
  return value !== null && value in THEMES;
}

/** Light, dark, or as the system says; `public/assets/theme.js` reads it before the page is painted. */
export function ThemeMenu() {
  const [theme, setTheme] = useState<Theme>(() => {
    const kept = stored("theme");
    return isTheme(kept) ? kept : "system";
  });
  const choose = (next: Theme) => {
    setTheme(next);
    store("theme", next === "system" ? null : next);
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
  };
  return (
    <Menu label={`Theme: ${THEMES[theme]}`} trigger="◐" plain>
      {Object.entries(THEMES).map(([name, words]) => (
        <MenuItem key={name} checked={name === theme} onSelect={() => isTheme(name) && choose(name)}>
          {words}
        </MenuItem>
      ))}
    </Menu>
  );
}
