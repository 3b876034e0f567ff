/** The fields of the form for a new server. */
export type EntryKind = 'address' | 'program';

/** The entry of a form: the API checks it, and names the field of each mistake. */
export function entryOf(kind: EntryKind, given: FormData): object {
  const text = (name: string): string => String(given.get(name) ?? '').trim();
  if (kind === 'address') {
    return { url: text('url'), headers: Object.fromEntries(linesOf(text('headers')).map(headerOf)) };
  }
  return {
    command: text('command'),
    args: linesOf(text('args')),
    env: Object.fromEntries(linesOf(text('env')).map((line) => partsOf(line, '='))),
    workspace: given.get('read_only') === null ? 'write' : 'read',
    network: given.get('network') !== null,
  };
}

const linesOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));

function partsOf(line: string, between: string): [string, string] {
  const at = line.indexOf(between);
  return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** `{NAME}` in a value stands for the secret of this name. */
function headerOf(line: string): [string, string | { secret: string; value: string }] {
  const [name, value] = partsOf(line, ':');
  const secret = /\{([A-Za-z]\w*)\}/.exec(value)?.[1];
  return [name, secret === undefined ? value : { secret, value: value.replace(`{${secret}}`, '{}') }];
}
