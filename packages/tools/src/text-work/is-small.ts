import type { TextInput, TextTaskName } from './text-work.ts';

/**
 * Whether a task is done sooner than a thread has been asked. Whatever a small text holds, the slowest task takes less than 10 ms on it.
 */
export function isSmall<Name extends TextTaskName>(name: Name, input: TextInput<Name>): boolean {
  const task = { name, input } as AnyTask;
  switch (task.name) {
    case 'edit': {
      const { data, old_string, new_string, replace_all } = task.input;
      const changed = replace_all ? [data.toString('latin1', 0, SMALL_CHANGE + 1)] : [old_string, new_string];
      return data.length <= SMALL_FILE && isSmallChange(changed);
    }
    case 'diff': {
      const { before, after } = task.input;
      return isSmallChange([before?.toString('latin1', 0, SMALL_CHANGE + 1) ?? '', after]);
    }
    case 'excerpt':
      return task.input.data.length <= SMALL_READ;
    case 'weigh':
      return task.input.text.length <= SMALL_JSON;
    case 'page':
    case 'results':
      return false;
    default:
      return task satisfies never;
  }
}

type AnyTask = { [Name in TextTaskName]: { name: Name; input: TextInput<Name> } }[TextTaskName];

/** An edit of one place in it: the search and the nearest line take time in proportion. */
const SMALL_FILE = 32 * 1024;
/** Characters of what is compared line by line, and its lines, whose square it takes. */
const SMALL_CHANGE = 4000;
const FEW_LINES = 100;
const SMALL_JSON = 64 * 1024;
const SMALL_READ = 1024 * 1024;

function isSmallChange(texts: readonly string[]): boolean {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  return chars <= SMALL_CHANGE && texts.reduce((sum, text) => sum + text.split('\n').length, 0) <= FEW_LINES;
}
