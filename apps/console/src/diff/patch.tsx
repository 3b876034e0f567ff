import { memo, type ReactNode } from 'react';
import { Text } from '../parts/text.tsx';
import { type PatchLine, patchLinesOf } from './patch-lines.ts';

/** Lines shown of one patch. A longer patch says so. */
const mostLines = 3000;

interface Props {
  lines: readonly PatchLine[];
  /** Below a line, or at the end of the head of a file. */
  besides?: ((line: PatchLine) => ReactNode) | undefined;
}

/** A unified diff as it is: each line with its sign, and colour besides. */
export const Patch = ({ text }: { text: string }) => <PatchRows lines={patchLinesOf(text)} />;

export const PatchRows = memo(function PatchRows({ lines, besides }: Props) {
  return (
    <div className="patch">
      {lines.slice(0, mostLines).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
        <div key={index} data-index={index}>
          <div className={`patch-line ${line.kind}`}>
            {besides !== undefined && <Numbers line={line} />}
            <Text most={2000}>{line.text === '' ? ' ' : line.text}</Text>
          </div>
          {besides?.(line)}
        </div>
      ))}
      {lines.length > mostLines && (
        <div className="patch-line hunk">… {lines.length - mostLines} more lines are not shown here</div>
      )}
    </div>
  );
});

/** A click begins a comment; the button at the head of the file does the same for keyboards. */
const Numbers = ({ line }: { line: PatchLine }) => {
  const side = line.new === undefined ? 'old' : 'new';
  return (
    <span className="line-number" aria-hidden="true" data-side={line[side] === undefined ? undefined : side}>
      {line[side]}
    </span>
  );
};
