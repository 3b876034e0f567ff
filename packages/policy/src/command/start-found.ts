import { filledWord, opaqueWord } from './read-word.ts';
import type { CommandWord } from './simple-command.ts';
import type { Started } from './started.ts';

const starters = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** `find DIR… -exec COMMAND {} ;`: `{}` becomes the content of the directories. */
export function startFound(words: readonly CommandWord[]): Started[] {
  const started: Started[] = [];
  const first = words.findIndex(({ value }) => value.startsWith('-') || value === '(' || value === '!');
  const roots = words.slice(0, first < 0 ? undefined : first);
  for (let at = 0; at < words.length; at += 1) {
    const { value } = words[at]!;
    if (!starters.has(value)) continue;
    const end = words.findIndex((word, index) => index > at && (word.value === ';' || word.value === '+'));
    const command = words.slice(at + 1, end < 0 ? undefined : end).flatMap((word) => fill(word, roots));
    if (command.length > 0)
      started.push({ kind: 'command', words: command, assignments: [], elsewhere: value.endsWith('dir') });
    if (end >= 0) at = end;
  }
  return started;
}

function fill(word: CommandWord, roots: readonly CommandWord[]): CommandWord[] {
  if (!word.value.includes('{}')) return [word];
  if (word.value !== '{}') return [filledWord(word, '{}')];
  if (roots.length === 0) return [below({ ...opaqueWord('.'), pattern: true })];
  return roots.map(below);
}

function below(root: CommandWord): CommandWord {
  return { ...root, value: `${root.value}${root.value.endsWith('/') ? '' : '/'}*`, static: false, several: true };
}
