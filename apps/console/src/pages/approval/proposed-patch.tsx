import type { Approval, ApprovalContent } from '@holdpoint/contract/wire';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { readContent } from '../../api/approvals.ts';
import { CommentDialog } from '../../diff/comments/comment-dialog.tsx';
import { DraftCard } from '../../diff/comments/draft-card.tsx';
import { DraftsBar } from '../../diff/comments/drafts-bar.tsx';
import { useLineClicks } from '../../diff/comments/use-line-clicks.ts';
import { useProposed } from '../../diff/comments/use-proposed.ts';
import { Patch, PatchRows } from '../../diff/patch.tsx';
import { type PatchLine, patchLinesOf } from '../../diff/patch-lines.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';

interface Props {
  approval: Approval;
  patch: string;
  label: string;
}

/** The proposal of a held call, line by line. While the call waits, a person comments on the lines; drafts go with the rejection. */
export function ProposedPatch({ approval, patch, label }: Props) {
  if (approval.status === 'pending') return <Commented approval={approval} patch={patch} label={label} />;
  return (
    <LongText label={label} className="flush">
      <Patch text={patch} />
    </LongText>
  );
}

function Commented({ approval, patch, label }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => patchLinesOf(patch), [patch]);
  const comments = useProposed(approval, lines);
  const [path, setPath] = useState<string>();
  useLineClicks(frame, (index, side) => {
    const line = lines[index];
    const number = line?.[side];
    if (line?.path !== undefined && number !== undefined) comments.begin(line.path, number, side);
  });
  const heads = useMemo(() => lastHeads(lines), [lines]);
  const besides = useCallback(
    (line: PatchLine) => (
      <>
        {heads.has(line) && <CommentButton path={line.path ?? ''} onChoose={setPath} />}
        {comments.on(line).map((placed) => (
          <DraftCard key={placed.draft.id} placed={placed} comments={comments} />
        ))}
      </>
    ),
    [heads, comments],
  );
  return (
    <div className="stack" ref={frame}>
      <LongText label={label} className="flush">
        <PatchRows lines={lines} besides={besides} />
      </LongText>
      {comments.unplaced.map((placed) => (
        <DraftCard key={placed.draft.id} placed={placed} comments={comments} />
      ))}
      <DraftsBar runId={approval.run_id} {...comments} snapshots={comments.snapshots} />
      {path !== undefined && (
        <CommentDialog
          path={path}
          onChoose={(line, side) => {
            setPath(undefined);
            comments.begin(path, line, side);
          }}
          onClose={() => setPath(undefined)}
        />
      )}
    </div>
  );
}

/** The last line of the head of each file: the button to comment stands below it. */
const lastHeads = (lines: readonly PatchLine[]): ReadonlySet<PatchLine> =>
  new Set(
    lines.filter((line, at) => line.kind === 'file' && line.path !== undefined && lines[at + 1]?.kind !== 'file'),
  );

const CommentButton = ({ path, onChoose }: { path: string; onChoose: (path: string) => void }) => (
  <div className="patch-button">
    <Button slim kind="quiet" onClick={() => onChoose(path)}>
      Comment
      <span className="hidden-text">
        {' '}
        on a line of <Text>{path}</Text>
      </span>
    </Button>
  </div>
);

const Context = createContext<{ digest: string | undefined; read(digest: string): void } | undefined>(undefined);

/** Knows whether the whole of a cut approval was opened. */
export function WholeDesk({ children }: { children: ReactNode }) {
  const [digest, read] = useState<string>();
  const value = useMemo(() => ({ digest, read }), [digest]);
  return <Context value={value}>{children}</Context>;
}

export const useWholeDigest = (): string | undefined => useContext(Context)?.digest;

/** Says what is cut, and shows all of it when asked. */
export function Whole({ approval }: { approval: Approval }) {
  const desk = useContext(Context);
  const [content, setContent] = useState<ApprovalContent>();
  const [error, setError] = useState<unknown>();
  if (approval.cut === null) return null;
  const { args, preview } = approval.cut;
  const open = async () => {
    try {
      const whole = await readContent(approval.id);
      setContent(whole);
      if (whole.action_digest === approval.action_digest) desk?.read(whole.content_digest);
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <section className="stack">
      <Note tone="warn" title="It is too long to be shown here, and cut">
        <p>
          {args !== undefined && `The arguments have ${args.toLocaleString('en')} bytes. `}
          {preview !== undefined && `The effect has ${preview.toLocaleString('en')} bytes.`}
        </p>
        {content === undefined && (
          <Button slim onClick={() => void open()}>
            Show all of it
          </Button>
        )}
      </Note>
      {error !== undefined && <ProblemNote error={error} />}
      {content !== undefined && (
        <>
          <LongText label="All arguments">
            <pre>
              <Text escaped>{content.readable.args}</Text>
            </pre>
          </LongText>
          {content.patch !== null ? (
            <ProposedPatch approval={approval} patch={content.patch} label="Whole patch" />
          ) : (
            content.readable.preview !== null && (
              <LongText label="Whole effect">
                <pre>
                  <Text escaped>{content.readable.preview}</Text>
                </pre>
              </LongText>
            )
          )}
        </>
      )}
    </section>
  );
}
