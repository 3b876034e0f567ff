import { useId, useState } from 'react';
import { CallLine, Foot, type FormProps } from './form-parts.tsx';

/** Rejects, and asks why: the planner reads the reason and does better. */
export function RejectForm({ approval, decision, confirm, onClose }: FormProps) {
  const id = useId();
  const [message, setMessage] = useState('');
  const reject = () => void decision.send({ decision: 'reject', message: message.trim() === '' ? undefined : message });
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
      <Foot word="Reject" kind="danger main" decision={decision} onConfirm={reject} onClose={onClose} />
    </>
  );
}
