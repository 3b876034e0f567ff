import type { PolicyMatch, PolicyRule } from '@holdpoint/contract';
import { wordText } from '../judge/parts.ts';
import type { CallFacts } from '../match/call-facts.ts';
import { normalPath } from '../match/path-glob.ts';
import { folderOf, type HeldPart, subcommandEnd } from './held-parts.ts';

/** The narrowest rule to allow parts with the same key; undefined when no rule can. */
export function ruleFor(parts: readonly (HeldPart & { facts: CallFacts })[]): PolicyRule | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  const { toolset, tool, effect } = first.facts;
  const match = matchFor(parts);
  if (match === undefined) return undefined;
  return { match: { toolset: escapeGlob(toolset), tool: escapeGlob(tool), effect, ...match }, action: 'allow' };
}

function matchFor(parts: readonly (HeldPart & { facts: CallFacts })[]): PolicyMatch | undefined {
  const [first] = parts;
  switch (first?.part.kind) {
    case 'call':
      return { args: { '': { equals: first.facts.args as null } } };
    case 'command':
      return argvFor(parts);
    case 'path': {
      const paths = parts.flatMap(({ part }) => (part.kind === 'path' ? [part.touched] : []));
      const texts = paths.map(({ path }) => (typeof path === 'string' ? normalPath(path) : undefined));
      const [text] = texts;
      const [{ access } = {}] = paths;
      if (text === undefined || access === undefined) return undefined;
      const isOne = texts.every((one) => one === text);
      const folder = folderOf(text);
      return {
        paths: { globs: [isOne ? escapeGlob(text) : `${folder === '' ? '' : `${escapeGlob(folder)}/`}*`], access },
      };
    }
    case 'host':
      return { hosts: [first.part.text] };
    default:
      return undefined;
  }
}

/** The same words where all commands have them, then any words. */
function argvFor(parts: readonly HeldPart[]): PolicyMatch | undefined {
  const commands = parts.map(({ part }) =>
    part.kind === 'command' && part.command !== 'unparsed' ? part.command : undefined,
  );
  const lines = commands.map((command) =>
    command?.words.map((word) => (word.includes(null) ? undefined : wordText(word))),
  );
  const [first] = lines;
  if (first === undefined || commands.some((command) => command === undefined || command.class === 'blocked'))
    return undefined;
  const isOne = lines.every((line) => line?.length === first.length && line.every((word, at) => word === first[at]));
  const fixed = isOne ? first : first.slice(0, subcommandEnd(first.map((word) => word ?? '')));
  const words = fixed.filter((word) => word !== undefined);
  if (words.length < fixed.length || words.length === 0) return undefined;
  return { command: { argv: [...words.map(escapeGlob), ...(isOne ? [] : ['**'])] } };
}

const escapeGlob = (text: string): string => text.replaceAll(/[\\*?[\]{}]/g, '\\$&');
