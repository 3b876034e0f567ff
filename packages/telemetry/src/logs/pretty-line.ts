import { styleText } from 'node:util';
import { levelName } from './log-levels.ts';

const colors = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const;
const left = new Set(['level', 'time', 'msg', 'name', 'app', 'pid', 'hostname']);

/** A line for a person at a terminal: `12:03:04.005 WARN repaired stuck run run_id=run_…`. Text other than a JSON line is unchanged. */
export function prettyLine(text: string): string {
  const line = parse(text);
  if (line === undefined) return text;
  const level = levelName(Number(line.level));
  const time = new Date(Number(line.time)).toISOString().slice(11, -1);
  const fields = Object.entries(line).flatMap(([name, value]) => (left.has(name) ? [] : [`${name}=${shown(value)}`]));
  const head = `${time} ${styleText(colors[level], level.toUpperCase().padEnd(5))} ${shown(line.msg)}`;
  const stack = typeof line.err === 'object' && line.err !== null && 'stack' in line.err ? stackOf(line.err.stack) : '';
  return `${[head, ...fields].join('  ')}\n${stack}`;
}

function parse(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** A text from outside must not steer the terminal. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value) {
    const { stack: _, ...rest } = value;
    return shown(rest);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=]+( [^\s"=]+)*$/.test(text) ? escaped(text) : escaped(JSON.stringify(value));
}

const stackOf = (stack: unknown): string =>
  String(stack)
    .split('\n')
    .slice(1)
    .map((line) => `    ${escaped(line.trim())}\n`)
    .join('');

const unsafe = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const escaped = (text = ''): string =>
  text.replace(unsafe, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
