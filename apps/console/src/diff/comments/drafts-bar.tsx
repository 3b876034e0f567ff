import type { LineComment } from '@holdpoint/contract/wire';
import { useId, useState } from 'react';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';
import type { Drafts } from './drafts.ts';
import { type Placed, toComments, written } from './use-places.ts';

interface Props {
  runId: string;
  drafts: Drafts;
  placed: readonly Placed[];
  snapshots: { from: string; to: string };
}

/** The drafts of a run below its diff. They go as one message. */
export function DraftsBar({ runId, drafts, placed, snapshots }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [isSent, setSent] = useState(false);
  const whyNot = useWhyNot('runs:write');
  const ready = written(placed);
  if (placed.length === 0) {
    return isSent ? <Note tone="good" isNews title="The comments were sent with a message to the run" /> : null;
  }
  const isReading = placed.some(({ place }) => place.is === 'reading');
  const why =
    ready.length === 0 ? 'No draft has words yet' : isReading ? 'Their lines are being looked for' : undefined;
  return (
    <div className="bulk">
      <span role="status">{placed.length === 1 ? 'One draft' : `${placed.length} drafts`}</span>
      <Button kind="quiet" onClick={() => drafts.remove(placed.map(({ draft }) => draft.id))}>
        Remove all
      </Button>
      <Button kind="main" icon="out" whyNot={whyNot ?? why} onClick={() => setOpen(true)}>
        Send to the run
      </Button>
      {isOpen && (
        <SendDialog
          runId={runId}
          comments={toComments(ready, snapshots)}
          onSent={() => {
            setOpen(false);
            setSent(true);
            drafts.remove(ready.map(({ draft }) => draft.id));
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

interface SendProps {
  runId: string;
  comments: LineComment[];
  onSent: () => void;
  onClose: () => void;
}

function SendDialog({ runId, comments, onSent, onClose }: SendProps) {
  const id = useId();
  // Only the comments that stand in the dialog are sent, and a second try after a lost answer sends nothing twice.
  const [shown] = useState(comments);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const send = (given: FormData) =>
    ask({
      ...{ method: 'POST', path: `/v1/runs/${encodeURIComponent(runId)}/messages`, idempotencyKey },
      body: { text: String(given.get('text')), comments: shown },
    });
  return (
    <AskDialog title="Send the comments" word="Send" wide onSend={send} onDone={onSent} onClose={onClose}>
      <p className="muted">The model reads them in one message before its next turn. A plan reads no messages.</p>
      <CommentList comments={shown} />
      <div className="field">
        <label htmlFor={id}>Message</label>
        <textarea id={id} name="text" rows={2} required defaultValue="See my comments on these lines." />
      </div>
    </AskDialog>
  );
}

export const CommentList = ({ comments }: { comments: readonly LineComment[] }) => (
  <ul className="card rows" aria-label="Comments">
    {comments.map(({ path, line, side, quote, text }) => (
      <li key={`${path} ${line} ${side} ${text}`} className="row-line">
        <div className="stack tight">
          <span className="small">
            <code>
              <Text>{path}</Text>
            </code>
            , line {line}
            {side === 'old' && ', before the change'}
          </span>
          {quote !== undefined && (
            <pre className="small muted">
              <Text most={300}>{quote}</Text>
            </pre>
          )}
          <Text>{text}</Text>
        </div>
      </li>
    ))}
  </ul>
);
