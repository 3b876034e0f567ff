import type { CheckedPolicy, PolicyExplanation } from '@holdpoint/contract/wire';
import { type FormEvent, useId, useState } from 'react';
import { ask } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { parseJson } from '../../parts/json-text.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Explanation } from './explanation.tsx';

type Document = NonNullable<CheckedPolicy['document']>;

/** Says what the text would do with an imagined call, which rule decides, and why the others do not. */
export function TryCall({ check }: { check: () => Promise<Document | undefined> }) {
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
