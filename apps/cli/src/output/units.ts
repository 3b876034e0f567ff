/** `850 ms`, `3.2 s`, `4 min 05 s`, `2 h 10 min` */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${two(Math.floor(ms / 1000) % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** Local time of day: `14:03:27`. */
export function clock(time: string): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** `5 s ago`, `3 min ago`, `2 h ago`, `4 d ago` */
export const ago = (time: string, now: number): string => `${span(now - Date.parse(time))} ago`;

/** `in 7 d`, `in 20 min`, `now` for a past time. */
export function until(time: string, now: number): string {
  const left = Date.parse(time) - now;
  return left <= 0 ? 'now' : `in ${span(left)}`;
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

function span(ms: number): string {
  for (const [size, name] of units) if (ms >= size) return `${Math.floor(ms / size)} ${name}`;
  return `${Math.max(0, Math.floor(ms / 1000))} s`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `1 file`, `3 files` */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const sizes = ['byte', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1 byte`, `980 KiB`, `1.4 GiB` */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(count) / 10));
  if (power === 0) return counted(Math.round(count), 'byte');
  const value = count / 1024 ** power;
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${sizes[power]}`;
}
