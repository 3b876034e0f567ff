import type { Node } from '@vscode/tree-sitter-wasm';
import { c } from './c.ts';
import { csharp } from './csharp.ts';
import { javascript, tsx, typescript } from './ecmascript.ts';
import { go } from './go.ts';
import type { Grammar, WrittenImport } from './grammar.ts';
import { java } from './java.ts';
import { php } from './php.ts';
import { python } from './python.ts';
import { ruby } from './ruby.ts';
import { rust } from './rust.ts';

const query = `
(function_definition name: (word) @name) @symbol.function
(declaration_command (word) @_w (variable_assignment name: (variable_name) @name) @symbol.constant (#eq? @_w "-r"))
(declaration_command "local" (variable_assignment name: (variable_name) @local))
(declaration_command "readonly" (variable_assignment name: (variable_name) @name) @symbol.constant)
(variable_assignment name: (variable_name) @name) @symbol.variable
(command name: (command_name (word) @_w) (#any-of? @_w "source" ".")) @import
(command name: (command_name (word) @call))
(simple_expansion (variable_name) @value)
(expansion (variable_name) @value)
`;

export const bash: Grammar = {
  wasm: 'tree-sitter-bash.wasm',
  query,
  readImports,
  isExported: ({ parent }) => parent === undefined,
  seesOtherFiles: false,
  capitalsAreConstant: true,
};

function readImports(command: Node): WrittenImport[] {
  const path = command.childForFieldName('argument');
  if (path?.type === 'word') return [{ source: path.text, names: [], reexport: false }];
  const content = path?.namedChild(0);
  const isPlain = path?.type === 'string' && path.namedChildCount === 1 && content?.type === 'string_content';
  if (isPlain) return [{ source: content.text, names: [], reexport: false }];
  return path?.type === 'raw_string' ? [{ source: path.text.slice(1, -1), names: [], reexport: false }] : [];
}

/** The graph has facts of these languages. */
export const languages = [
  'typescript',
  'tsx',
  'javascript',
  'python',
  'go',
  'java',
  'rust',
  'ruby',
  'c',
  'cpp',
  'csharp',
  'php',
  'bash',
] as const;
export type Language = (typeof languages)[number];

const grammars = {
  typescript,
  tsx,
  javascript,
  python,
  go,
  java,
  rust,
  ruby,
  c,
  cpp: c,
  csharp,
  php,
  bash,
} satisfies Record<Language, Grammar>;

export function grammarOf(language: Language): Grammar {
  return grammars[language];
}

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
