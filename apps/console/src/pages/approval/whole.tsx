import type { Approval, ApprovalContent } from '@holdpoint/contract/wire';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { readContent } from '../../api/approvals.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/problem-note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { ProposedPatch } from './proposed-patch.tsx';

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
