const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A length of time in its two largest units: `2 h 5 min`; below a minute in one. */
export function spanText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const at = units.findIndex(([, size]) => ms >= size);
  const [unit, size] = units[at] ?? units[3];
  const count = Math.floor(ms / size);
  const next = units[at + 1];
  const rest = next === undefined ? 0 : Math.floor((ms - count * size) / next[1]);
  return rest === 0 || next === undefined || (unit === 'd' && count > 6)
    ? `${count} ${unit}`
    : `${count} ${unit} ${rest} ${next[0]}`;
}
