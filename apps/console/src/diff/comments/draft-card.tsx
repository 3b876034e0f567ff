import { useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { Text } from '../../parts/text.tsx';
import type { Placed } from './use-places.ts';
import type { Commenting } from './use-proposed.ts';

/** A comment as it is written. It stays a draft until it is sent. */
export function DraftCard({ placed: { draft, place }, comments }: { placed: Placed; comments: Commenting }) {
  const id = useId();
  const { drafts } = comments;
  const isNew = comments.isBegun(draft.id);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isNew) area.current?.focus();
  }, [isNew]);
  const side = draft.side === 'old' ? ', before the change' : '';
  return (
    <div className="draft">
      <div className="spread">
        <label htmlFor={id} className="small">
          Draft on line {place.is === 'here' ? place.line : draft.line}
          {side}
        </label>
        <Button slim kind="quiet" icon="cross" onClick={() => drafts.remove([draft.id])}>
          Remove<span className="hidden-text"> the draft</span>
        </Button>
      </div>
      {place.is === 'gone' && (
        <p className="small soon">
          The line is gone from these files. The draft stays, and goes with the line as it was when you wrote it.
        </p>
      )}
      {place.is === 'unknown' && (
        <p className="small muted">Where the line is now is not known: it is sent as it was.</p>
      )}
      {place.is === 'proposed' && (
        <p className="small muted">
          On what a <Link href={`/approvals/${draft.approval}`}>held call</Link> would do: it goes with the rejection,
          or in a message to the run.
        </p>
      )}
      {place.is !== 'here' && draft.quote !== '' && (
        <pre className="small">
          <Text most={300}>{draft.quote}</Text>
        </pre>
      )}
      <textarea
        id={id}
        ref={area}
        rows={2}
        maxLength={10_000}
        value={draft.text}
        onChange={({ target }) => drafts.write(draft.id, target.value)}
      />
    </div>
  );
}
