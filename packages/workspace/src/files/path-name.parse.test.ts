import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromPlain, fromText, isDotGit, isPlainName, isWithin, toText } from './path-name.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((array) => Buffer.from(array).toString('latin1'));
const awkward = fc
  .array(fc.constantFrom('"', '\\', '\n', '\t', 'a', 'é', '\xe9', '3', '5', '1', 'n'), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(''));
const path = fc.oneof(bytes, awkward);

test('every path has a text that reads back as the same bytes', () => {
  fc.assert(fc.property(path, (one) => fromText(toText(one)) === one));
  expect(toText('"quoted"')).toBe('"\\"quoted\\""');
});

test('different paths have different texts', () => {
  fc.assert(fc.property(path, path, (one, two) => (one === two) === (toText(one) === toText(two))));
});

test('names in UTF-8 stay readable, other names are quoted as in git', () => {
  expect(toText(fromPlain('ünï/日本 x'))).toBe('ünï/日本 x');
  expect(toText('caf\xe9\n"')).toBe('"caf\\351\\n\\""');
});

test('names that some file system resolves to .git are recognised', () => {
  const evil = ['.git', '.GiT', 'git~1', '.git ', '.git.', '.git . .', '.git::$INDEX_ALLOCATION', '.git\\hooks'];
  expect([...evil, fromPlain('.g\u200dit'), fromPlain('\ufeff.git')].filter((name) => !isDotGit(name))).toEqual([]);
  const good = ['.gitignore', '.github', 'git', '.git-x', 'a.git', 'git~10', '.gitmodules'];
  expect(good.filter(isDotGit)).toEqual([]);
});

test('a name that would leave its folder is not a plain name', () => {
  expect(['', '.', '..', 'a/b', 'a\0', '.git'].filter(isPlainName)).toEqual([]);
  expect(isPlainName('...')).toBe(true);
});

test('a path lies within its own folder and every folder above', () => {
  expect([isWithin('a', 'a'), isWithin('a/b', 'a'), isWithin('a', ''), isWithin('ab', 'a')]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
