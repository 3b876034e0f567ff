import { applyEdits, findNodeAtLocation, modify, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { type ConfigText, ConfigTextError, type Launch } from './config-text.ts';

export function jsonConfig(path: readonly string[], entryOf: (launch: Launch) => object): ConfigText {
  const set = (text: string, value: object | undefined, at = path): string => {
    const whole = text.trim() === '' ? '{}\n' : text;
    const eol = whole.includes('\r\n') ? '\r\n' : '\n';
    const formattingOptions = {
      insertSpaces: !/^\t/m.test(whole),
      tabSize: /^ {4}\S/m.test(whole) && !/^ {2}\S/m.test(whole) ? 4 : 2,
      eol,
    };
    return applyEdits(whole, modify(whole, [...at], value, { formattingOptions }));
  };
  return {
    has: (text) => findNodeAtLocation(read(text), [...path]) !== undefined,
    add(text, launch) {
      assertObjects(text, path);
      return set(text, entryOf(launch));
    },
    remove(text) {
      const tree = read(text);
      if (findNodeAtLocation(tree, [...path]) === undefined) return text;
      // An object around the entry alone came with it.
      const isAlone = (depth: number) => findNodeAtLocation(tree, path.slice(0, depth))?.children?.length === 1;
      let depth = path.length;
      while (depth > 1 && isAlone(depth - 1)) depth -= 1;
      return set(text, undefined, path.slice(0, depth));
    },
    show: (launch) => set('', entryOf(launch)).trimEnd(),
  };
}

function read(text: string) {
  const errors: ParseError[] = [];
  const tree = parseTree(text.trim() === '' ? '{}' : text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) throw new ConfigTextError(printParseErrorCode(first.error), lineAt(text, first.offset));
  if (tree?.type !== 'object') throw new ConfigTextError('the file holds no object', 1);
  return tree;
}

/** The entry goes into objects alone: another value at the place belongs to the user. */
function assertObjects(text: string, path: readonly string[]): void {
  const tree = read(text);
  for (const depth of path.slice(0, -1).keys()) {
    const node = findNodeAtLocation(tree, path.slice(0, depth + 1));
    if (node === undefined || node.type === 'object') continue;
    throw new ConfigTextError(`${path.slice(0, depth + 1).join('.')} is no object`, lineAt(text, node.offset));
  }
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
