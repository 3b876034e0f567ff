import { bash } from './bash.ts';
import { c } from './c.ts';
import { csharp } from './csharp.ts';
import { javascript, tsx, typescript } from './ecmascript.ts';
import { go } from './go.ts';
import type { Grammar } from './grammar.ts';
import { java } from './java.ts';
import type { Language } from './language.ts';
import { php } from './php.ts';
import { python } from './python.ts';
import { ruby } from './ruby.ts';
import { rust } from './rust.ts';

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
