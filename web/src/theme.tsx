import { signal } from "@preact/signals";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const PLACE = "remand-theme";
const theme = signal<Theme>("system");

export function startTheme(): void {
  const kept = localStorage.getItem(PLACE);
  set(THEMES.find((each) => each === kept) ?? "system");
}

function set(next: Theme): void {
  theme.value = next;
  document.documentElement.dataset["theme"] = next;
  localStorage.setItem(PLACE, next);
}

export function ThemeChoice() {
  return (
    <label class="theme">
      <span class="muted">Theme</span>
      <select value={theme.value} onChange={(event) => set(event.currentTarget.value as Theme)}>
        {THEMES.map((each) => (
          <option value={each} key={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}
