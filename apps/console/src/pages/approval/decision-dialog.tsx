import type { Approval, Decide, Tool } from '@holdpoint/contract/wire';
import { useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { readContent } from '../../api/approvals.ts';
import { ApiProblem } from '../../api/request.ts';
import { useDrafts } from '../../diff/comments/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { ConflictForm } from './conflict-form.tsx';
import { DecidedNote } from './decided-note.tsx';
import { CallLine, FieldsForm, Foot, type FormProps, isFlat } from './fields-form.tsx';
import { JsonForm } from './json-form.tsx';
import { useWholeDigest } from './proposed-patch.tsx';
import { RejectForm } from './reject-form.tsx';
import { defaultRemembering, Remember, type Remembering } from './remember.tsx';
import { shownOf } from './shown.ts';
import { SideBySide } from './side-by-side.tsx';
import { useDecision } from './use-decision.ts';

export type Kind = Decide['decision'];

interface Props {
  kind: Kind;
  approval: Approval;
  tool: Tool | undefined;
  unread: number;
  onClose: () => void;
}

const titles: Record<Kind, string> = {
  approve: 'Approve this call?',
  edit: 'Approve it with other arguments',
  reject: 'Reject this call',
  respond: 'Answer instead of running it',
};

/** Decides on the approval as it was when the dialog opened: that is what the person has read. */
export function DecisionDialog({ kind, approval: now, tool, unread, onClose }: Props) {
  const [approval] = useState(now);
  const decision = useDecision(approval);
  const confirm = useRef<() => void>(() => undefined);
  const { sent } = decision;
  const drafts = useDrafts(approval.run_id);
  const sentDrafts = useRef<readonly string[]>([]);
  const isRejected = sent.is === 'done' && sent.now.status === 'rejected';
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the decision counts
  useEffect(() => {
    if (isRejected) drafts.remove(sentDrafts.current);
  }, [isRejected]);
  const isPublish = approval.step_id === null;
  const title =
    isPublish && kind === 'approve'
      ? 'Publish this?'
      : isPublish && kind === 'reject'
        ? 'Do not publish'
        : titles[kind];
  const form = { approval, decision, confirm, onClose };
  if (sent.is === 'done' || sent.is === 'overtaken') {
    return (
      <Dialog title={sent.is === 'done' ? 'Decided' : 'Not decided'} onClose={onClose} wide={sent.is === 'overtaken'}>
        {sent.is === 'overtaken' && <ProblemNote error={sent.error} />}
        {sent.now.status !== 'pending' || sent.now.votes.length > 0 ? <DecidedNote approval={sent.now} /> : null}
        {sent.is === 'overtaken' && sent.now.status === 'pending' && <SideBySide before={approval} after={sent.now} />}
        <div className="dialog-foot">
          {sent.now.id !== approval.id && (
            <Link href={`/approvals/${sent.now.id}`} className="button">
              Open it
            </Link>
          )}
          <Button kind="main" autoFocus onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose} onConfirm={() => confirm.current()} wide={kind === 'edit'}>
      {kind === 'approve' && <ApproveForm {...form} unread={unread} />}
      {kind === 'edit' && <EditForm {...form} tool={tool} />}
      {kind === 'reject' && <RejectForm {...form} sentDrafts={sentDrafts} />}
      {kind === 'respond' && <RespondForm {...form} />}
      {sent.is === 'refused' && <ProblemNote error={sent.error} />}
      {sent.is === 'unknown' && (
        <Note tone="warn" isNews title="No answer came: whether the decision counts is not known">
          <p>It is safe to look, and to send the same decision again: it counts once.</p>
          <Button slim onClick={() => void decision.look()}>
            Look whether it counts
          </Button>
        </Note>
      )}
    </Dialog>
  );
}

/** Confirms the call. Text that was cut, or not scrolled to its end, asks once more. */
function ApproveForm({ approval, decision, confirm, onClose, unread }: FormProps & { unread: number }) {
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

/** Other arguments for the call: a field for each where all are flat, otherwise JSON. */
function EditForm(props: FormProps & { tool: Tool | undefined }) {
  const { approval, decision, tool } = props;
  const { args } = approval.action;
  const [asJson, setAsJson] = useState(false);
  const errors =
    decision.sent.is === 'refused' && decision.sent.error instanceof ApiProblem ? decision.sent.error.errors : [];
  if (approval.kind === 'conflict') return <ConflictForm {...props} />;
  if (approval.cut?.args !== undefined)
    return <p>The arguments are too long to be edited here: use the command line.</p>;
  const canFields = isFlat(tool, args);
  return (
    <>
      {canFields && (
        <Choices
          label="Form"
          value={asJson ? 'json' : 'fields'}
          options={[
            ['fields', 'Fields'],
            ['json', 'JSON'],
          ]}
          onChoose={(form) => setAsJson(form === 'json')}
        />
      )}
      {canFields && !asJson ? (
        <FieldsForm {...props} args={args} errors={errors} />
      ) : (
        <JsonForm {...props} args={args} errors={errors} />
      )}
    </>
  );
}

/** An answer in the place of the call: to a question, or as its result. */
function RespondForm({ approval, decision, confirm, onClose }: FormProps) {
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
