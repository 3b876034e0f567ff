import { memo } from 'react';
import { Text } from './text.tsx';

/** Lines shown of one patch. A longer patch says so. */
const mostLines = 3000;

/** A unified diff as it is: each line with its sign, and colour besides. */
export const Patch = memo(function Patch({ text }: { text: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    <div className="patch">
      {lines.slice(0, mostLines).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
        <div key={index} className={`patch-line ${kindOf(line)}`}>
          <Text most={2000}>{line === '' ? ' ' : line}</Text>
        </div>
      ))}
      {lines.length > mostLines && (
        <div className="patch-line hunk">… {lines.length - mostLines} more lines are not shown here</div>
      )}
    </div>
  );
});

function kindOf(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('diff ')) return 'file';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'plus';
  if (line.startsWith('-')) return 'minus';
  return '';
}
