import { CliError } from '../shell/index.ts';

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** `30d`, `12h`, `90m`, `2w`, or a time in RFC 3339. @throws CliError `usage` */
export function sinceOf(text: string, now = Date.now()): string {
  const [, number = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const time = units[unit] === undefined ? Date.parse(text) : now - Number(number) * units[unit];
  // Date.parse takes any number for a year.
  if (Number.isNaN(time) || /^\d*$/.test(text)) {
    throw new CliError('usage', `${JSON.stringify(text)} is no time: write 30d, 12h, 90m, or 2026-01-31T00:00:00Z.`);
  }
  return new Date(time).toISOString();
}
