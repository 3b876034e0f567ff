import type { Approval, DecidedMany } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import { decideMany } from '../../api/approvals.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Badge, Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { sightMs, useSnoozed } from './snoozed.ts';

const times = { '15 minutes': 15 * 60_000, '1 hour': 3_600_000, '4 hours': 4 * 3_600_000, '1 day': 24 * 3_600_000 };
type Time = keyof typeof times;
const options = (Object.keys(times) as Time[]).map((each) => [each, each] as const);

interface Props {
  approvals: readonly Approval[];
  onClose: (isDone: boolean) => void;
}

/** Puts approvals out of the way of this person for a while. */
export function SnoozeDialog({ approvals, onClose }: Props) {
  const { snooze } = useSnoozed();
  const [time, setTime] = useState<Time>('1 hour');
  const [now] = useState(Date.now);
  const soon = approvals.filter(({ expires_at }) => Date.parse(expires_at) - sightMs < now + times[time]).length;
  return (
    <AskDialog
      title={approvals.length === 1 ? 'Snooze this approval' : `Snooze ${approvals.length} approvals`}
      word="Snooze"
      onSend={async () => snooze(approvals, Date.now() + times[time])}
      onDone={() => onClose(true)}
      onClose={() => onClose(false)}
    >
      <Choices label="For how long" value={time} options={options} onChoose={setTime} />
      <p className="muted">
        In this browser alone: others see it as before, and its deadline runs. You find it under “Snoozed”.
      </p>
      {soon > 0 && (
        <Note tone="warn" title="It expires before">
          {approvals.length === 1 ? 'It comes' : `${soon} of them come`} back a quarter of an hour before the deadline.
        </Note>
      )}
    </AskDialog>
  );
}

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

/** The gist of a call in one line: its command, its path, its question, or all of its arguments. */
export function inOneLine({ action: { args }, reason, step_id }: Approval): string {
  if (step_id === null) return reason;
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) {
    for (const name of ['command', 'question', 'path', 'file_path', 'url']) {
      const value = args[name];
      if (typeof value === 'string' && value.trim() !== '') return value.replace(/\s+/g, ' ').trim();
    }
  }
  return JSON.stringify(args) ?? '';
}
