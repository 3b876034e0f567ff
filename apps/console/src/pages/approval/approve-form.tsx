import { useId, useState } from 'react';
import { readContent } from '../../api/approvals.ts';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { CallLine, Foot, type FormProps } from './form-parts.tsx';
import { defaultRemembering, Remember, type Remembering } from './remember.tsx';
import { useWholeDigest } from './whole.tsx';

/** Confirms the call. Text that was cut, or not scrolled to its end, asks once more. */
export function ApproveForm({ approval, decision, confirm, onClose, unread }: FormProps & { unread: number }) {
  const id = useId();
  const [remembering, setRemembering] = useState<Remembering>(defaultRemembering);
  const [isSure, setSure] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const readWhole = useWholeDigest();
  const isUnseen = (approval.cut !== null && readWhole === undefined) || unread > 0;
  const whyNot = isUnseen && !isSure ? 'Say first that you approve unread text' : undefined;
  const approve = async () => {
    if (whyNot !== undefined) return;
    setProblem(undefined);
    try {
      const content_digest =
        approval.cut === null ? undefined : (readWhole ?? (await readContent(approval.id)).content_digest);
      await decision.send({ decision: 'approve', content_digest, ...remembering });
    } catch (error) {
      setProblem(error);
    }
  };
  confirm.current = () => void approve();
  return (
    <>
      <CallLine approval={approval} />
      {isUnseen && (
        <Note tone="warn" title="There is text that you have not seen to its end">
          <label className="check" htmlFor={id}>
            <input id={id} type="checkbox" checked={isSure} onChange={({ target }) => setSure(target.checked)} />I
            approve it without having read all of it
          </label>
        </Note>
      )}
      {approval.remembers !== null && approval.confirm === null && (
        <Remember approval={approval} decision="approve" value={remembering} onChange={setRemembering} />
      )}
      {problem !== undefined && <ProblemNote error={problem} />}
      <Foot
        byPasskey={approval.confirm === 'passkey'}
        word={approval.step_id === null ? 'Publish' : 'Approve'}
        whyNot={whyNot}
        decision={decision}
        onConfirm={() => void approve()}
        onClose={onClose}
      />
    </>
  );
}
