import type { AuditHead, AuditReport } from '@holdpoint/contract/wire';
import { type FormEvent, useId, useState } from 'react';
import { ask } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';

type Asked =
  | { is: 'reading' }
  | { is: 'head'; head: AuditHead }
  | { is: 'report'; report: AuditReport }
  | { is: 'refused'; error: unknown };

/** Checks the chain of the whole installation, and shows its head to be kept elsewhere. */
export function Seal() {
  const id = useId();
  const whyNot = useWhyNot('audit:verify');
  const [asked, setAsked] = useState<Asked>();
  const [kept, setKept] = useState('');
  const isReading = asked?.is === 'reading';
  const read = async (reading: Promise<Asked>) => {
    if (isReading) return;
    setAsked({ is: 'reading' });
    setAsked(await reading.catch((error: unknown): Asked => ({ is: 'refused', error })));
  };
  const verify = (event: FormEvent) => {
    event.preventDefault();
    if (whyNot === undefined) void read(verified(kept.trim()));
  };
  return (
    <section className="card pad stack" aria-label="The seal">
      <form className="row" onSubmit={verify}>
        <label htmlFor={id} className="hidden-text">
          A head that you kept
        </label>
        <input
          id={id}
          className="kept-head mono"
          value={kept}
          placeholder="A head that you kept, SEQ:HASH (may be empty)"
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => setKept(target.value)}
        />
        <Button type="submit" kind="main" icon="shield" whyNot={isReading ? 'Being read' : whyNot}>
          Verify
        </Button>
        <Button whyNot={isReading ? 'Being read' : whyNot} onClick={() => void read(readHead())}>
          Show the head
        </Button>
      </form>
      <div role="status" className="stack">
        {isReading && <p className="muted pulse">Every record and every sealed event is read</p>}
        {asked?.is === 'refused' && <ProblemNote error={asked.error} />}
        {asked?.is === 'head' && <Head head={asked.head} />}
        {asked?.is === 'report' && <Report report={asked.report} />}
      </div>
    </section>
  );
}

const readHead = async (): Promise<Asked> => ({ is: 'head', head: await ask<AuditHead>({ path: '/v1/audit/head' }) });

const verified = async (head: string): Promise<Asked> => ({
  is: 'report',
  report: await ask<AuditReport>({ path: '/v1/audit/verify', query: { head } }),
});

const Head = ({ head: { seq, hash } }: { head: AuditHead }) => (
  <div className="stack tight">
    <p className="small muted">
      The last record. Keep it elsewhere: verifying with it later shows whether the whole log was replaced.
    </p>
    <pre className="text-block">{`${seq}:${hash}`}</pre>
  </div>
);

function Report({ report }: { report: AuditReport }) {
  const { ok, records, runs, events, findings, findings_total, head } = report;
  const counts = `${records.toLocaleString('en')} records, ${events.sealed.toLocaleString('en')} sealed events of ${runs.toLocaleString('en')} runs, ${events.unsealed.toLocaleString('en')} events not sealed yet.`;
  return (
    <>
      <Note
        tone={ok ? 'good' : 'bad'}
        title={
          ok
            ? 'Everything is as it was sealed'
            : `${findings_total.toLocaleString('en')} findings: not everything is as it was sealed`
        }
      >
        {counts} Head {head.seq}:{head.hash.slice(0, 12)}…
      </Note>
      {findings.length > 0 && (
        <ul className="card rows findings">
          {findings.map(({ code, message, file, line }) => (
            <li key={`${code} ${message} ${file} ${line}`} className="row-line">
              <span>
                <code>{code}</code> <Text>{message}</Text>
                {file !== undefined && (
                  <span className="muted small">
                    {' '}
                    (<Text>{file}</Text>, line {line})
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {findings_total > findings.length && (
        <p>{(findings_total - findings.length).toLocaleString('en')} further findings: holdpoint audit verify</p>
      )}
    </>
  );
}
