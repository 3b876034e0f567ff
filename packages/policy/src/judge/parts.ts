import type { CallPart } from '@holdpoint/contract';
import type { CallFacts, CommandFact } from '../match/call-facts.ts';
import type { Pieces } from '../match/glob.ts';
import { normalPath, type TouchedPath } from '../match/path-glob.ts';
import { type HostPattern, parseHostPattern } from '../match/truth.ts';

/** The unit a rule matches: a simple command, a path, a host, or the whole call without any of these. */
export type Part =
  | { kind: 'call' }
  /** `program`: its name without folders, if known. */
  | { kind: 'command'; command: CommandFact | 'unparsed'; program: string | undefined }
  | { kind: 'path'; touched: TouchedPath }
  /** `undefined`: not a host, so any rule about hosts may apply. */
  | { kind: 'host'; text: string; host: HostPattern | undefined };

export function partsOf({ touches: { paths, commands, hosts } }: CallFacts): Part[] {
  const parts: Part[] = [
    ...(commands === 'unparsed' ? [commands] : commands).map(
      (command): Part => ({ kind: 'command', command, program: programOf(command) }),
    ),
    ...paths.map((touched): Part => ({ kind: 'path', touched })),
    ...hosts.map((text): Part => ({ kind: 'host', text, host: parseHostPattern(text) })),
  ];
  return parts.length === 0 ? [{ kind: 'call' }] : parts;
}

function programOf(command: CommandFact | 'unparsed'): string | undefined {
  const [word] = command === 'unparsed' ? [] : command.words;
  return word?.every((piece) => piece !== null) ? word.join('').replace(/^.*\//s, '') : undefined;
}

const maxDetail = 300;

/** The part in a form for people. */
export function describePart(part: Part): CallPart {
  const text = detailOf(part);
  return { kind: part.kind, detail: text.length > maxDetail ? `${text.slice(0, maxDetail)}…` : text };
}

function detailOf(part: Part): string {
  switch (part.kind) {
    case 'call':
      return 'the whole call';
    case 'command':
      return part.command === 'unparsed'
        ? 'a command line that cannot be parsed'
        : part.command.words.map(wordText).join(' ');
    case 'path': {
      const { path, access } = part.touched;
      return `${access} ${typeof path === 'string' ? normalPath(path) : wordText(path)}`;
    }
    case 'host':
      return part.text;
    default:
      return part satisfies never;
  }
}

export const wordText = (word: Pieces): string => word.map((piece) => piece ?? '…').join('');
