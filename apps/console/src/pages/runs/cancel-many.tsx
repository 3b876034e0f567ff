import type { Run } from '@holdpoint/contract/wire';
import { useId, useRef, useState } from 'react';
import { isProblem, NoAnswer } from '../../api/request.ts';
import { cancelRun } from '../../api/runs.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Badge } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';

/** Cancels the chosen runs, each by its name and with its own result. */
export function CancelMany({ chosen, onClear }: { chosen: Run[]; onClear: () => void }) {
  const whyNot = useWhyNot('runs:write');
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="bulk">
      <span role="status">{chosen.length === 1 ? 'One run' : `${chosen.length} runs`}</span>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
      <Button kind="danger" icon="cross" whyNot={whyNot} onClick={() => setOpen(true)}>
        Cancel them
      </Button>
      {isOpen && (
        <CancelDialog
          runs={chosen}
          onClose={(isDone) => {
            setOpen(false);
            if (isDone) onClear();
          }}
        />
      )}
    </div>
  );
}

function CancelDialog({ runs, onClose }: { runs: Run[]; onClose: (isDone: boolean) => void }) {
  const id = useId();
  const [shown] = useState(runs);
  const [message, setMessage] = useState('');
  const [results, setResults] = useState<Record<string, string>>({});
  const isBusy = useRef(false);
  const done = Object.keys(results).length;
  const cancel = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    for (const run of shown) {
      const result = await cancelRun(run.id, message.trim() || undefined).then(({ status }) => status, refusalOf);
      setResults((before) => ({ ...before, [run.id]: result }));
    }
  };
  return (
    <Dialog
      title={shown.length === 1 ? 'Cancel this run?' : `Cancel these ${shown.length} runs?`}
      onClose={() => onClose(done > 0)}
      onConfirm={() => void cancel()}
    >
      <p className="muted">Running steps are killed and queued ones dropped. What is published stays.</p>
      <ul className="bulk-items">
        {shown.map((run) => (
          <li key={run.id} className="spread">
            <span className="one-line">
              <Text>{run.title}</Text>
            </span>
            {results[run.id] !== undefined && <Badge>{results[run.id]}</Badge>}
          </li>
        ))}
      </ul>
      <div className="field">
        <label htmlFor={id}>Why? (may be empty)</label>
        <textarea id={id} rows={2} value={message} onChange={({ target }) => setMessage(target.value)} />
      </div>
      <div className="dialog-foot">
        <Button onClick={() => onClose(done > 0)}>{done > 0 ? 'Close' : 'Back'}</Button>
        {done === 0 && (
          <Button kind="danger main" onClick={() => void cancel()}>
            Cancel {shown.length === 1 ? 'the run' : 'the runs'}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

const refusalOf = (error: unknown): string =>
  isProblem(error) || error instanceof NoAnswer ? error.detail : String(error);
