import type { TextInput, TextTaskName } from './text-work.ts';

/**
 * Whether a task is done sooner than a thread has been asked. Whatever a small text holds, the slowest task takes less than 10 ms on it.
 */
export function isSmall<Name extends TextTaskName>(name: Name, input: TextInput<Name>): boolean {
  const task = { name, input } as AnyTask;
  switch (task.name) {
    case 'edit': {
      const { data, old_string, new_string, replace_all } = task.input;
      const changed = replace_all ? data.length : old_string.length + new_string.length;
      return data.length <= SMALL_FILE && changed <= SMALL_CHANGE;
    }
    case 'diff': {
      const { before, after } = task.input;
      return (before?.length ?? 0) + after.length <= SMALL_CHANGE;
    }
    case 'excerpt':
      return task.input.data.length <= SMALL_READ;
    case 'weigh':
      return task.input.text.length <= SMALL_JSON;
    case 'page':
    case 'plain':
    case 'results':
      return false;
    default:
      return task satisfies never;
  }
}

type AnyTask = { [Name in TextTaskName]: { name: Name; input: TextInput<Name> } }[TextTaskName];

/** An edit of one place in it: the search and the nearest line take time in proportion. */
const SMALL_FILE = 128 * 1024;
/** What is compared line by line takes the square of its lines. */
const SMALL_CHANGE = 1000;
const SMALL_JSON = 64 * 1024;
const SMALL_READ = 1024 * 1024;
