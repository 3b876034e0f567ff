import { type BoundPolicies, judge } from '../judge/judge.ts';
import { type Part, partsOf, wordText } from '../judge/parts.ts';
import type { CallFacts } from '../match/call-facts.ts';
import { normalPath } from '../match/path-glob.ts';

export interface HeldPart {
  part: Part;
  /** Parts with the same key can share a rule: the same program and sub-command, or the same folder. */
  key: string;
}

/** The held parts of a call. */
export function heldParts(policies: BoundPolicies, facts: CallFacts): HeldPart[] {
  return partsOf(facts)
    .filter((part) => judge(policies, { ...facts, touches: onlyPart(part, facts) }).action === 'hold')
    .map((part) => ({
      part,
      key: JSON.stringify([facts.toolset, facts.tool, facts.effect, part.kind, ...keyOf(part, facts)]),
    }));
}

function onlyPart(part: Part, { touches }: CallFacts): CallFacts['touches'] {
  const none = { paths: [], commands: [], hosts: [] };
  switch (part.kind) {
    case 'call':
      return touches;
    case 'command':
      return { ...none, commands: part.command === 'unparsed' ? 'unparsed' : [part.command] };
    case 'path':
      return { ...none, paths: [part.touched] };
    case 'host':
      return { ...none, hosts: [part.text] };
    default:
      return part satisfies never;
  }
}

function keyOf(part: Part, { args }: CallFacts): unknown[] {
  switch (part.kind) {
    case 'call':
      return [args];
    case 'command':
      return part.command === 'unparsed'
        ? ['unparsed']
        : part.command.words.slice(0, subcommandEnd(part.command.words.map(wordText)));
    case 'path':
      return [part.touched.access, folderOf(part.touched.path)];
    case 'host':
      return [part.text];
    default:
      return part satisfies never;
  }
}

/** The program and its first word, except for an option or a path as the first word. */
export const subcommandEnd = ([, first]: readonly string[]): number =>
  first !== undefined && /^[a-z][a-z0-9:_-]*$/.test(first) ? 2 : 1;

/** `''`: the workspace. */
export function folderOf(path: string | readonly (string | null)[]): string {
  const text = normalPath(typeof path === 'string' ? path : wordText(path));
  return text.includes('/') ? text.slice(0, text.lastIndexOf('/')) : '';
}
