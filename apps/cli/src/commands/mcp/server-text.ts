import { canonicalJson } from '@holdpoint/contract';
import { toolName } from '@holdpoint/mcp';
import { counted, oneLine, plain } from '../../output/index.ts';
import type { Described, ListedServer } from './server-backend.ts';

type DescribedTool = Described['tools'][number];

/** All that a server says of its tools, for a person who accepts them. */
export const acceptedText = (name: string, asked: Described): string[] => [
  headline(name, asked),
  `  entry: ${entryText(asked.entry)}`,
  ...asked.tools.flatMap((tool) => toolText(name, tool)),
  ...leftOutText(asked),
];

/** The differences between the accepted entry and tools of a server and its present ones. */
export function changeText(name: string, before: Described, asked: Described): string[] {
  if (before.digest === asked.digest)
    return [headline(name, asked), 'Its entry and its tools are as they were accepted.'];
  const old = new Map(before.tools.map((tool) => [tool.name, tool]));
  const now = new Set(asked.tools.map((tool) => tool.name));
  const lines = asked.tools.flatMap((tool) => {
    const was = old.get(tool.name);
    if (was === undefined) return ['new:', ...toolText(name, tool)];
    if (JSON.stringify(was) === JSON.stringify(tool)) return [];
    return ['was:', ...toolText(name, was), 'is now:', ...toolText(name, tool)];
  });
  const gone = before.tools.filter((tool) => !now.has(tool.name)).map((tool) => `gone: ${toolName(name, tool.name)}`);
  const entry = entryChange(before.entry, asked.entry);
  const unchanged = entry.length + lines.length + gone.length === 0 ? ['The same tools in another order.'] : [];
  return [headline(name, asked), ...entry, ...lines, ...gone, ...unchanged, ...leftOutText(asked)];
}

/** An acceptance of an earlier version has no entry: then the present entry is shown. */
function entryChange(before: Described['entry'], now: Described['entry']): string[] {
  if (before === null) return [`  entry: ${entryText(now)}`];
  if (entryText(before) === entryText(now)) return [];
  return ['was:', `  entry: ${entryText(before)}`, 'is now:', `  entry: ${entryText(now)}`];
}

const entryText = (entry: Described['entry']): string => oneLine(canonicalJson(entry), 10_000);

export const placeText = ({ url, command = '', args = [] }: NonNullable<ListedServer['entry']>): string =>
  oneLine(url ?? [command, ...args].join(' '));

const headline = (name: string, { server, protocol, tools, digest }: Described): string =>
  `${name}: ${oneLine(server) || 'a server without a name'}, MCP ${oneLine(protocol)}, ${counted(tools.length, 'tool')}, digest ${digest.slice(0, 16)}`;

/** The words are a stranger's: nothing in them is invisible. */
function toolText(name: string, { name: tool, description, input_schema, hints }: DescribedTool): string[] {
  const risk = hints.destructive ? '   (says of itself that it destroys)' : '';
  return [
    `  ${toolName(name, tool)}${risk}`,
    ...plain(description)
      .split('\n')
      .map((line) => `    ${line}`),
    `    input: ${plain(JSON.stringify(input_schema))}`,
  ];
}

const leftOutText = ({ left_out }: Described): string[] =>
  Object.entries(left_out).map(([tool, why]) => `  left out: ${oneLine(tool)}: ${oneLine(why)}`);
