import type { TextInput, TextTaskName } from './text-work.ts';

/**
 * Whether a task takes less time than its way to a thread. The slowest task takes less than 10 ms on any small text.
 */
export function isSmall<Name extends TextTaskName>(name: Name, input: TextInput<Name>): boolean {
  const task = { name, input } as AnyTask;
  switch (task.name) {
    case 'edit': {
      const { data, old_string, new_string, replace_all } = task.input;
      const changed = replace_all ? [data.toString('latin1', 0, smallChange + 1)] : [old_string, new_string];
      return data.length <= smallFile && isSmallChange(changed);
    }
    case 'patch': {
      const { data, patch } = task.input;
      return data.length <= smallFile && isSmallChange([patch]);
    }
    case 'diff': {
      const { before, after } = task.input;
      return isSmallChange([before?.toString('latin1', 0, smallChange + 1) ?? '', after ?? '']);
    }
    case 'excerpt':
    case 'lines':
    case 'replace_first':
      return task.input.data.length <= smallRead;
    case 'weigh':
      return task.input.text.length <= smallJson;
    case 'output':
    case 'page':
    case 'results':
      return false;
    default:
      return task satisfies never;
  }
}

type AnyTask = { [Name in TextTaskName]: { name: Name; input: TextInput<Name> } }[TextTaskName];

/** Bytes, for an edit of a single place: the searches for the text and for the nearest line take linear time. */
const smallFile = 32 * 1024;
/** Characters and lines of a comparison. A comparison takes quadratic time in the lines. */
const smallChange = 4000;
const fewLines = 100;
const smallJson = 64 * 1024;
const smallRead = 1024 * 1024;

function isSmallChange(texts: readonly string[]): boolean {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  return chars <= smallChange && texts.reduce((sum, text) => sum + text.split('\n').length, 0) <= fewLines;
}
