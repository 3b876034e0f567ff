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
