import type { Json } from '@holdpoint/contract';
import type { AskedCall } from '../../toolset.ts';

/** Texts shown by their size alone. */
const long = new Set(['content', 'old_string', 'new_string']);
const mostShown = 1000;

/** The question of the contract to a person. A text stands on a single line: no text looks like another field. */
export function approvalText({ tool, args, label, files }: AskedCall): string {
  return [
    `Tool: ${tool}`,
    'Parameters:',
    ...parametersOf(args).map(([name, value]) => `  ${name}: ${shown(name, value)}`),
    `Files affected: ${files.map(oneLine).join(', ')}`,
    `Risk level: ${label}`,
    '',
    'Approve? (y/n/always):',
  ].join('\n');
}

const parametersOf = (args: Json): [string, Json][] =>
  typeof args === 'object' && args !== null && !Array.isArray(args) ? Object.entries(args) : [];

function shown(name: string, value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (long.has(name)) return `<${Buffer.byteLength(value)} bytes>`;
  return value.length > mostShown
    ? `${oneLine(value.slice(0, mostShown))}… <${Buffer.byteLength(value)} bytes>`
    : oneLine(value);
}

const oneLine = (text: string): string => (/[\n\r\u2028\u2029]/.test(text) ? JSON.stringify(text) : text);
