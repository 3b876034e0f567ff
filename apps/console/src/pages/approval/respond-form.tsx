import { useId, useState } from 'react';
import { Text } from '../../parts/text.tsx';
import { CallLine, Foot, type FormProps } from './form-parts.tsx';
import { shownOf } from './shown.ts';

/** An answer in the place of the call: to a question, or as its result. */
export function RespondForm({ approval, decision, confirm, onClose }: FormProps) {
  const id = useId();
  const shown = shownOf(approval.preview);
  const options = shown?.kind === 'question' ? shown.options : [];
  const [message, setMessage] = useState('');
  const whyNot = message.trim() === '' ? 'Write an answer first' : undefined;
  const respond = () => {
    if (whyNot === undefined) void decision.send({ decision: 'respond', message });
  };
  confirm.current = respond;
  return (
    <>
      {shown?.kind === 'question' ? (
        <blockquote className="question">
          <Text>{shown.question}</Text>
        </blockquote>
      ) : (
        <CallLine approval={approval} />
      )}
      {options.length > 0 && (
        <div className="choices">
          {options.map((option) => (
            <button
              key={option}
              type="button"
              className="choice"
              aria-pressed={option === message}
              onClick={() => setMessage(option)}
            >
              <Text>{option}</Text>
            </button>
          ))}
        </div>
      )}
      <div className="field">
        <label htmlFor={id}>Answer</label>
        <textarea id={id} rows={4} value={message} onChange={({ target }) => setMessage(target.value)} />
        <p className="hint">The planner reads it as the result of the call; the call itself does not run.</p>
      </div>
      <Foot word="Answer" whyNot={whyNot} decision={decision} onConfirm={respond} onClose={onClose} />
    </>
  );
}
