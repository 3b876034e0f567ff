import { type RefObject, useId, useState } from 'react';
import { useRunComments } from '../../diff/comments/use-places.ts';
import { CallLine, Foot, type FormProps } from './fields-form.tsx';
import { defaultRemembering, Remember, type Remembering } from './remember.tsx';
import { WithComments } from './with-comments.tsx';

interface Props extends FormProps {
  /** The drafts that go with the decision. */
  sentDrafts: RefObject<readonly string[]>;
}

/** Rejects, and asks why: the planner reads the reason and does better. */
export function RejectForm({ approval, decision, confirm, onClose, sentDrafts }: Props) {
  const id = useId();
  const [message, setMessage] = useState('');
  const drafts = useRunComments(approval.run_id);
  const [hasComments, setComments] = useState(true);
  const [remembering, setRemembering] = useState<Remembering>(defaultRemembering);
  const reject = () => {
    const comments = hasComments && drafts.comments.length > 0 ? drafts.comments : undefined;
    sentDrafts.current = comments === undefined ? [] : drafts.ids;
    void decision.send({
      decision: 'reject',
      message: message.trim() === '' ? undefined : message,
      comments,
      ...remembering,
    });
  };
  confirm.current = reject;
  return (
    <>
      <CallLine approval={approval} />
      <div className="field">
        <label htmlFor={id}>Why?</label>
        <textarea id={id} rows={4} value={message} onChange={({ target }) => setMessage(target.value)} />
        <p className="hint">
          {approval.step_id === null
            ? 'It is kept with the run. Nothing is published.'
            : 'The planner reads it with the refusal. It may be empty; nothing runs.'}
        </p>
      </div>
      <WithComments comments={drafts.comments} isOn={hasComments} onChange={setComments} />
      <Remember approval={approval} decision="reject" value={remembering} onChange={setRemembering} />
      <Foot word="Reject" kind="danger main" decision={decision} onConfirm={reject} onClose={onClose} />
    </>
  );
}
