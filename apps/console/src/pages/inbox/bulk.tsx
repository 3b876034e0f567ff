import type { Approval, DecidedMany } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import { decideMany } from '../../api/approvals.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { inOneLine } from './in-one-line.ts';
import { SnoozeDialog } from './snooze-dialog.tsx';

type Kind = 'approve' | 'reject';

/** The chosen calls of one tool, decided together. */
export function Bulk({ chosen, onClear }: { chosen: Approval[]; onClear: () => void }) {
  const [kind, setKind] = useState<Kind>();
  const [isSnoozing, setSnoozing] = useState(false);
  const whyNot = useWhyNot('approvals:decide');
  return (
    <div className="bulk">
      <span role="status">
        {chosen.length} × <code>{chosen[0]?.action.tool}</code>
      </span>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
      <Button icon="clock" onClick={() => setSnoozing(true)}>
        Snooze
      </Button>
      <Button kind="danger" icon="cross" whyNot={whyNot} onClick={() => setKind('reject')}>
        Reject
      </Button>
      <Button kind="main" icon="check" whyNot={whyNot} onClick={() => setKind('approve')}>
        Approve
      </Button>
      {isSnoozing && (
        <SnoozeDialog
          approvals={chosen}
          onClose={(isDone) => {
            setSnoozing(false);
            if (isDone) onClear();
          }}
        />
      )}
      {kind !== undefined && (
        <BulkDialog
          kind={kind}
          items={chosen}
          onClose={(isDone) => {
            setKind(undefined);
            if (isDone) onClear();
          }}
        />
      )}
    </div>
  );
}

function BulkDialog({ kind, items, onClose }: { kind: Kind; items: Approval[]; onClose: (isDone: boolean) => void }) {
  const id = useId();
  const queries = useQueryClient();
  // Only approvals in the list of the dialog are decided: others may arrive in the inbox while it is open.
  const [shown] = useState(items);
  const [message, setMessage] = useState('');
  const [results, setResults] = useState<DecidedMany['data']>();
  const [error, setError] = useState<unknown>();
  const isBusy = useRef(false);
  const [isSending, setSending] = useState(false);
  const send = async () => {
    if (isBusy.current || results !== undefined) return;
    isBusy.current = true;
    setSending(true);
    setError(undefined);
    try {
      const each = shown.map(({ id: approval_id, action_digest }) => ({ approval_id, action_digest }));
      setResults(await decideMany({ decision: kind, items: each, message: message.trim() || undefined }));
    } catch (refused) {
      setError(refused);
    } finally {
      isBusy.current = false;
      setSending(false);
      void queries.invalidateQueries({ queryKey: ['approvals'] });
    }
  };
  return (
    <Dialog
      title={`${kind === 'approve' ? 'Approve' : 'Reject'} ${shown.length} calls of ${shown[0]?.action.tool}`}
      onClose={() => onClose(results !== undefined)}
      onConfirm={() => void send()}
      wide
    >
      <LongText label="The calls" counts={false} className="flush">
        <ul className="bulk-items">
          {shown.map((approval) => (
            <li key={approval.id}>
              <div className="spread">
                <span className="muted small one-line">
                  <Text escaped>{approval.run_title}</Text>
                </span>
                <Result result={results?.find(({ approval_id }) => approval_id === approval.id)} />
              </div>
              <pre>
                <Text escaped={approval.readable.hidden}>
                  {approval.readable.hidden ? approval.readable.args : inOneLine(approval)}
                </Text>
              </pre>
            </li>
          ))}
        </ul>
      </LongText>
      {kind === 'reject' && results === undefined && (
        <div className="field">
          <label htmlFor={id}>Why?</label>
          <textarea id={id} rows={2} value={message} onChange={({ target }) => setMessage(target.value)} />
        </div>
      )}
      {error !== undefined && <ProblemNote error={error} />}
      <div className="dialog-foot">
        <Button onClick={() => onClose(results !== undefined)}>{results === undefined ? 'Back' : 'Close'}</Button>
        {results === undefined && (
          <Button
            kind={kind === 'approve' ? 'main' : 'danger main'}
            whyNot={isSending ? 'Being sent' : undefined}
            onClick={() => void send()}
          >
            {kind === 'approve' ? 'Approve all' : 'Reject all'}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Result({ result }: { result: DecidedMany['data'][number] | undefined }) {
  if (result === undefined) return null;
  if (result.problem === null) return <Badge tone="good">{result.status}</Badge>;
  return (
    <span className="small">
      <Badge tone="bad">{result.problem.code}</Badge> <Text>{result.problem.detail}</Text>
    </span>
  );
}
