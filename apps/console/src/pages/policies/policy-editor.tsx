import type { CheckedPolicy, PolicyExplanation } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { ask } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { parseJson } from '../../parts/json-text.ts';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { handText } from './handed-over.ts';
import { Mistakes } from './mistakes.tsx';
import { PolicyText } from './policy-text.tsx';
import { checkText, putPolicy } from './use-policies.ts';
import { Verdict } from './verdict.tsx';

type Rule = PolicyExplanation['parts'][number]['policies'][number]['rules'][number];

const outcomes: Record<Rule['outcome'], string> = {
  decides: 'decides',
  no_match: 'does not match',
  uncertain: 'may match, which allows nothing',
  after: 'comes after the rule that decides',
};

/** The verdict on a call, and for each of its parts what every rule says. */
const Explanation = ({ of: { verdict, parts } }: { of: PolicyExplanation }) => (
  <div className="stack">
    <p>
      <Verdict action={verdict.action} /> <Text>{verdict.reason}</Text>
    </p>
    {parts.map(({ part, policies }) => (
      <div key={`${part.kind} ${part.detail}`} className="stack tight">
        <h3>
          {part.kind} <Text most={300}>{part.detail}</Text>
        </h3>
        <ul className="small">
          {policies.flatMap(({ name, rules }) =>
            rules
              .filter(({ outcome }) => outcome === 'decides' || isWritten(name))
              .map((rule) => <RuleLine key={`${name} ${rule.index}`} policy={name} rule={rule} />),
          )}
        </ul>
      </div>
    ))}
  </div>
);

/** Built-in rules without a match would hide the written ones. */
const isWritten = (policy: string): boolean => policy !== 'builtin' && !policy.startsWith('toolset:');

const RuleLine = ({ policy, rule: { index, name, action, outcome, because } }: { policy: string; rule: Rule }) => (
  <li className={outcome === 'decides' ? '' : 'muted'}>
    <Text>{policy}</Text>: rule {index + 1}
    {name !== undefined && (
      <>
        {' '}
        (<Text>{name}</Text>)
      </>
    )}{' '}
    <Verdict action={action} /> {outcomes[outcome]}
    {because.length > 0 && (
      <>
        : <Text most={500}>{because.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}</Text>
      </>
    )}
  </li>
);

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

type Document = NonNullable<CheckedPolicy['document']>;

/** Says what the text would do with an imagined call, which rule decides, and why the others do not. */
function TryCall({ check }: { check: () => Promise<Document | undefined> }) {
  const id = useId();
  const [tool, setTool] = useState('bash');
  const [args, setArgs] = useState('{"command": "npm test"}');
  const [found, setFound] = useState<PolicyExplanation>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const parsed = parseJson(args);
  const mistake = parsed.ok ? undefined : `Line ${parsed.line}, column ${parsed.column}: ${parsed.detail}`;
  const judge = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || !parsed.ok) return;
    setBusy(true);
    setError(undefined);
    try {
      const policy = await check();
      const body = { policy, call: { tool, args: parsed.value } };
      const answer = policy && (await ask<PolicyExplanation>({ method: 'POST', path: '/v1/policies/test', body }));
      setFound(answer);
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  return (
    <section className="card pad stack" aria-label="Try a call">
      <h2>Try a call</h2>
      <form className="stack" onSubmit={judge}>
        <div className="field policy-name">
          <label htmlFor={`${id}-tool`}>Tool</label>
          <input
            id={`${id}-tool`}
            value={tool}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => setTool(target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-args`}>Arguments as JSON</label>
          <textarea
            id={`${id}-args`}
            className="code"
            rows={3}
            value={args}
            spellCheck={false}
            aria-invalid={mistake !== undefined || undefined}
            aria-describedby={`${id}-mistake`}
            onChange={({ target }) => setArgs(target.value)}
          />
          <p id={`${id}-mistake`} className="mistake">
            {mistake}
          </p>
        </div>
        <div className="row">
          <Button type="submit" whyNot={isBusy ? 'Being judged' : mistake}>
            Judge it
          </Button>
        </div>
      </form>
      {error !== undefined && <ProblemNote error={error} />}
      <div role="status">{found !== undefined && <Explanation of={found} />}</div>
    </section>
  );
}
