import { useId, useState } from 'react';
import { Choices } from '../../parts/choices.tsx';
import { Text } from '../../parts/text.tsx';
import { CallLine, Foot, type FormProps } from './form-parts.tsx';
import { shownOf } from './shown.ts';

/** An answer in the place of the call: to a question, or as its result. */
export function RespondForm({ approval, decision, confirm, onClose }: FormProps) {
  const id = useId();
  const shown = shownOf(approval.preview);
  const options = shown?.kind === 'question' ? shown.options : [];
  const server = shown?.kind === 'question' ? shown.server : undefined;
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
        <Choices
          label="Answers of the question"
          value={message}
          options={options.map((option) => [option, <Text key="text">{option}</Text>] as const)}
          onChoose={setMessage}
        />
      )}
      <div className="field">
        <label htmlFor={id}>Answer</label>
        <textarea id={id} rows={4} value={message} onChange={({ target }) => setMessage(target.value)} />
        <p className="hint">
          {server === undefined
            ? 'The planner reads it as the result of the call; the call itself does not run.'
            : 'It goes to the MCP server, and the call continues with it.'}
        </p>
      </div>
      <Foot
        byPasskey={approval.confirm === 'passkey'}
        word="Answer"
        whyNot={whyNot}
        decision={decision}
        onConfirm={respond}
        onClose={onClose}
      />
    </>
  );
}
