import { useState } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const place = 'holdpoint.theme';

/** Storage may be closed to the page. */
function stored(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(place)) ?? 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(theme: Theme = stored()): void {
  document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(stored);
  const choose = (next: Theme) => {
    setTheme(next);
    applyTheme(next);
    try {
      localStorage.setItem(place, next);
    } catch {
      // The choice holds for this page.
    }
  };
  return [theme, choose];
}
