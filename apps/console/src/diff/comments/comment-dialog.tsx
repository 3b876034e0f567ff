import { useId, useState } from 'react';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Text } from '../../parts/text.tsx';

interface Props {
  path: string;
  onChoose: (line: number, side: 'old' | 'new') => void;
  onClose: () => void;
}

/** A line by its number, for keyboards and fingers: the numbers beside the lines are for a pointer. */
export function CommentDialog({ path, onChoose, onClose }: Props) {
  const id = useId();
  const [side, setSide] = useState<'old' | 'new'>('new');
  return (
    <AskDialog
      title="Comment on a line"
      word="Write"
      onSend={async (given) => Number(given.get('line'))}
      onDone={(line) => onChoose(line, side)}
      onClose={onClose}
    >
      <p className="mono">
        <Text>{path}</Text>
      </p>
      <Choices
        label="Version"
        value={side}
        options={[
          ['new', 'After the change'],
          ['old', 'Before it'],
        ]}
        onChoose={setSide}
      />
      <div className="field">
        <label htmlFor={id}>Line</label>
        <input id={id} name="line" type="number" min="1" max="100000000" required autoComplete="off" />
      </div>
    </AskDialog>
  );
}
