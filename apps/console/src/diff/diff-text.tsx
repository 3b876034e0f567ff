import { memo } from 'react';
import { Text } from '../parts/text.tsx';
import type { DiffLine } from './diff-lines.ts';
import type { Token } from './highlight.ts';

/** The text of a line with its colours, and the changed part marked. */
export const DiffText = memo(function DiffText({ line, tokens }: { line: DiffLine; tokens: Token[] | undefined }) {
  const plain = [{ text: line.text, className: '' }];
  // Colours belong to a version of the file: text that has moved on keeps none.
  const fits = tokens !== undefined && tokens.map(({ text }) => text).join('') === line.text;
  return (
    <>
      {cutAt(fits ? tokens : plain, line.changed).map(({ text, className, isChanged }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line stand in a fixed order
        <span key={index} className={`${className}${isChanged ? ' changed' : ''}`}>
          <Text>{text}</Text>
        </span>
      ))}
    </>
  );
});

function cutAt(tokens: readonly Token[], changed: DiffLine['changed']): (Token & { isChanged: boolean })[] {
  if (changed === undefined) return tokens.map((token) => ({ ...token, isChanged: false }));
  const [from, to] = changed;
  let start = 0;
  return tokens.flatMap(({ text, className }) => {
    const begin = start;
    start += text.length;
    const cuts = [0, from - begin, to - begin, text.length].map((at) => Math.min(Math.max(at, 0), text.length));
    return [0, 1, 2].flatMap((part) => {
      const piece = text.slice(cuts[part], cuts[part + 1]);
      return piece === '' ? [] : [{ text: piece, className, isChanged: part === 1 }];
    });
  });
}
