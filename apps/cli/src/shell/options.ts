import { Command, InvalidArgumentError, Option } from 'commander';
import { CliError } from './errors.ts';

export interface ApiOptions {
  url?: string;
  json?: boolean;
}

/** A command with requests to the API. */
export const apiCommand = (name: string, summary: string): Command =>
  new Command(name)
    .description(summary)
    .addOption(new Option('--url <address>', 'address of the API (default: HOLDPOINT_URL or local)'))
    .addOption(new Option('--json', 'print one JSON object; when following, one a line'));

export interface FollowOptions {
  timeout?: number;
  /** When absent, a paused run ends the following. */
  wait?: boolean;
}

export const withFollowOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--timeout <seconds>', 'stop following after this time, and exit 6')
        .argParser(seconds)
        .conflicts('detach'),
    )
    .addOption(new Option('--wait', 'follow on while it is paused (default: exit 5)').conflicts('detach'))
    .addOption(new Option('--no-wait', 'stop following at a decision to make, and exit 5').conflicts('detach'));

/** @returns milliseconds */
export function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0) || value > 2_000_000) throw new InvalidArgumentError('Expected a number of seconds.');
  return value * 1000;
}

export function count(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return value;
}

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number.');
}

/** Collects `--label name=value` into a record. */
export function label(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Collects a repeatable option. */
export const several = (text: string, before: string[] = []): string[] => [...before, text];

/** Parses a JSON object. @param option the option with the text, for errors. @throws CliError `usage` */
export function jsonObject(text: string, option: string): Record<string, JsonValue> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CliError('usage', `${option} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CliError('usage', `${option} is not a JSON object.`);
  }
  return value as Record<string, JsonValue>; // JSON.parse returns nothing else
}

type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

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
