import type { CheckedPolicy } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { handText } from './handed-over.ts';
import { Mistakes } from './mistakes.tsx';
import { PolicyText } from './policy-text.tsx';
import { TryCall } from './try-call.tsx';
import { checkText, putPolicy } from './use-policies.ts';

interface Props {
  name: string;
  /** The version that a save replaces; 0: there is none. */
  version: number;
  initial: string;
}

type Said =
  | { is: 'checked'; checked: CheckedPolicy }
  | { is: 'saved'; version: number }
  | { is: 'refused'; error: unknown };

/** The text of a policy. The server checks it, and says what it does with a call, before it is saved. */
export function PolicyEditor({ name, version, initial }: Props) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [text, setText] = useState(initial);
  const [said, setSaid] = useState<Said>();
  const [isBusy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const mayWrite = useWhyNot('policies:write');
  const whyNotSave = isBusy ? 'Being checked' : (mayWrite ?? (name === '' ? 'It needs a name' : undefined));
  /** The document of the text; undefined after a refusal or a mistake, which is shown then. */
  const check = async () => {
    const checked = await checkText({ text, name: name || undefined });
    setSaid({ is: 'checked', checked });
    return checked.document ?? undefined;
  };
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy) return;
    setBusy(true);
    await work().catch((error: unknown) => setSaid({ is: 'refused', error }));
    setBusy(false);
  };
  const save = async () => {
    const document = await check();
    if (document === undefined) return;
    const saved = await putPolicy(name, document, version);
    setSaid({ is: 'saved', version: saved.version });
    await queries.invalidateQueries({ queryKey: ['policies'] });
    if (version === 0) go(`/policies/${name}`);
  };
  return (
    <>
      <section className="stack" aria-label="The text">
        <PolicyText ref={area} value={text} onChange={setText} isWrong={said?.is === 'checked' && !said.checked.ok} />
        <div className="row">
          <Button whyNot={isBusy ? 'Being checked' : undefined} icon="check" onClick={() => void run(check)}>
            Check
          </Button>
          <Button kind="main" whyNot={whyNotSave} onClick={() => void run(save)}>
            Save as version {version + 1}
          </Button>
          <Button
            onClick={() => {
              handText(text);
              go('/replay');
            }}
          >
            Replay it on past calls
          </Button>
        </div>
        <div role="status" className="stack">
          {said?.is === 'checked' && <Checked checked={said.checked} area={area} />}
          {said?.is === 'saved' && <Note tone="good" title={`Saved as version ${said.version}`} />}
        </div>
        {said?.is === 'refused' && <ProblemNote error={said.error} />}
      </section>
      <TryCall check={check} />
    </>
  );
}

function Checked({ checked, area }: { checked: CheckedPolicy; area: Parameters<typeof Mistakes>[0]['area'] }) {
  if (!checked.ok) return <Mistakes mistakes={checked.mistakes} area={area} />;
  return (
    <Note tone="good" title={`A policy with ${checked.rules} ${checked.rules === 1 ? 'rule' : 'rules'}`}>
      <code>{checked.digest}</code>
    </Note>
  );
}
