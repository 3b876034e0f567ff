import type { Command, Word } from 'unbash';
import { addCommand, addPart } from './add-command.ts';
import { readRedirects } from './read-redirects.ts';
import { readAssignmentWord, readWord } from './read-word.ts';
import type { CommandAssignment } from './simple-command.ts';
import { placeOf, type Scope, type Walk } from './walk.ts';

/**
 * Visits a command of the syntax tree: first the substitutions of its words, then the command, then the commands started by the command.
 */
export function visitCommand(walk: Walk, node: Command, scope: Scope, visitWords: () => void): void {
  const first = walk.commands.length;
  visitWords();
  const substituted = walk.commands.slice(first).map(({ program }) => program);
  const { redirects, text, input } = readRedirects(node.redirects);
  const assignments = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [readAssignment(part)] : []));
  const position = placeOf(node, scope);
  if (!node.name) {
    if (assignments.length + redirects.length > 0) addPart(walk, scope, { position, assignments, redirects });
    return;
  }
  const rest = node.args.map((word) =>
    word.type === 'Word' ? readWord(word) : readAssignmentWord(word, scope.dialect !== 'bash'),
  );
  const words = [readWord(node.name), ...rest];
  const { text: outer, ...outside } = scope;
  const given = input ? text : outer;
  const inside = { ...outside, input: input ? [] : scope.input };
  const found = { position, assignments, redirects, substituted };
  addCommand(walk, given === undefined ? inside : { ...inside, text: given }, words, found);
}

function readAssignment({
  name,
  value,
  append,
}: {
  name: string;
  value: Word | { type: 'ArrayValue' };
  append: boolean | undefined;
}): CommandAssignment {
  if (value.type === 'ArrayValue' || append) return { name, value: null };
  const word = readWord(value);
  return { name, value: word.static ? word.value : null };
}
