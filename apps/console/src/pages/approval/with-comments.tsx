import type { LineComment } from '@holdpoint/contract/wire';
import { useId } from 'react';
import { CommentList } from '../../diff/comments/drafts-bar.tsx';

interface Props {
  comments: readonly LineComment[];
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** Drafts on lines of the run go with the reason of a rejection. */
export function WithComments({ comments, isOn, onChange }: Props) {
  const id = useId();
  if (comments.length === 0) return null;
  return (
    <div className="stack tight">
      <label className="check" htmlFor={id}>
        <input id={id} type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
        Send {comments.length === 1 ? 'your draft on a line' : `your ${comments.length} drafts on lines`} with it
      </label>
      {isOn && <CommentList comments={comments} />}
    </div>
  );
}
