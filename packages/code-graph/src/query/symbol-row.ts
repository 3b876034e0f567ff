import type { SymbolFact } from '../facts.ts';
import type { Row } from './row.ts';

export const symbolRow = (path: string, { name, kind, container, exported, start, end }: SymbolFact): Row => ({
  path,
  line: start.line,
  column: start.column,
  end_line: end.line,
  name,
  kind,
  container: container.join('.'),
  exported,
});
