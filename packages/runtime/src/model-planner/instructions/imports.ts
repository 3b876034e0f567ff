import { posix } from 'node:path';

/** A line longer than this is data, not a line that imports. */
const longestLine = 2000;
const mostImports = 50;

/**
 * The paths that a text imports: `@path`, at the beginning of a line or behind a blank, outside of code. A path counts from the folder of
 * the text; a path out of the repository is no import.
 */
export function importsOf(text: string, folder: string): string[] {
  const found = new Set<string>();
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence !== undefined || line.length > longestLine) continue;
    for (const path of importsIn(line, folder)) found.add(path);
    if (found.size >= mostImports) break;
  }
  return [...found].slice(0, mostImports);
}

function importsIn(line: string, folder: string): string[] {
  const plain = line.replace(/`[^`]*`/g, ' ');
  return [...plain.matchAll(/(?:^|\s)@([^\s@`]+)/g)].flatMap(([, name = '']) => {
    const path = resolved(folder, name);
    // A sentence may end behind the path.
    const short = resolved(folder, name.replace(/[.,;:!?)\]]+$/, ''));
    return [path, short].filter((one) => one !== undefined);
  });
}

/** A path relative to the repository; undefined: it leads out, or is in the home of a user. */
export function resolved(folder: string, name: string): string | undefined {
  if (name === '' || name.startsWith('/') || name.startsWith('~')) return undefined;
  const path = posix.join(folder, name);
  return path === '..' || path.startsWith('../') || path === '.' ? undefined : path.replace(/\/$/, '');
}
