import type { CheckedPolicy } from '@holdpoint/contract/wire';
import type { RefObject } from 'react';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';

interface Props {
  mistakes: CheckedPolicy['mistakes'];
  area: RefObject<HTMLTextAreaElement | null>;
}

/** The mistakes of a text as the server found them. Each leads to its line. */
export const Mistakes = ({ mistakes, area }: Props) => (
  <Note tone="bad" title={mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`}>
    <ul className="stack tight">
      {mistakes.map(({ pointer, detail, line, column }) => (
        <li key={`${line} ${column} ${pointer} ${detail}`}>
          <button type="button" className="text-button" data-row="" onClick={() => show(area.current, line, column)}>
            Line {line}, column {column}
          </button>{' '}
          {pointer !== '' && (
            <code>
              <Text most={200}>{pointer}</Text>
            </code>
          )}{' '}
          <Text most={2000}>{detail}</Text>
        </li>
      ))}
    </ul>
  </Note>
);

function show(area: HTMLTextAreaElement | null, line: number, column: number): void {
  if (area === null) return;
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  area.focus();
  area.setSelectionRange(start + column - 1, start + (lines[line - 1]?.length ?? 0));
}
