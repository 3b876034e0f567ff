import type { Language } from './grammar-of.ts';

/**
 * The language of a file by its name, or by the interpreter in its first line.
 *
 * @param firstBytes the beginning of the file, 256 bytes suffice
 */
export function languageOf(path: string, firstBytes: Uint8Array): Language | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const named = names.get(name);
  if (named) return named;
  const dot = name.lastIndexOf('.');
  if (dot > 0) return extensions.get(name.slice(dot + 1)) ?? extensions.get(name.slice(dot + 1).toLowerCase());
  return interpreterOf(firstBytes);
}

const names = new Map<string, Language>([
  ['Rakefile', 'ruby'],
  ['Gemfile', 'ruby'],
  ['Jakefile', 'javascript'],
]);

const extensions = new Map(
  Object.entries({
    typescript: 'ts mts cts',
    tsx: 'tsx',
    javascript: 'js mjs cjs jsx',
    python: 'py pyi pyw',
    go: 'go',
    java: 'java',
    rust: 'rs',
    ruby: 'rb rake gemspec ru',
    c: 'c h',
    cpp: 'cc cpp cxx c++ C H hh hpp hxx h++ ipp inl tpp cppm ixx',
    csharp: 'cs csx',
    php: 'php phtml php5 php7 inc',
    bash: 'sh bash',
  } satisfies Record<Language, string>).flatMap(([language, endings]) =>
    endings.split(' ').map((ending) => [ending, language as Language] as const),
  ),
);

const interpreters: readonly [RegExp, Language][] = [
  [/^(node|bun|deno|nodejs)$/, 'javascript'],
  [/^(python|pypy)[\d.]*$/, 'python'],
  [/^ruby[\d.]*$/, 'ruby'],
  [/^php[\d.]*$/, 'php'],
  [/^(ba|da|k|z)?sh$/, 'bash'],
  [/^(ts-node|tsx)$/, 'typescript'],
];

function interpreterOf(firstBytes: Uint8Array): Language | undefined {
  if (firstBytes[0] !== 0x23 || firstBytes[1] !== 0x21) return undefined;
  const [line = ''] = Buffer.from(firstBytes.subarray(2, 256)).toString('latin1').split('\n');
  const words = line.trim().split(/\s+/);
  const program = words[0]?.endsWith('/env') ? words.slice(1).find((word) => !/^-|=/.test(word)) : words[0];
  const name = program?.slice(program.lastIndexOf('/') + 1) ?? '';
  return interpreters.find(([pattern]) => pattern.test(name))?.[1];
}
