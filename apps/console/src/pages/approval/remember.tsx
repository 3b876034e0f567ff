import type { Approval, Decide } from '@holdpoint/contract/wire';
import { useId } from 'react';
import { Text } from '../../parts/text.tsx';
import { spanText } from '../../parts/time.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { Contradictions } from './decided-note.tsx';

export type Remembering = Pick<Decide, 'remember' | 'remember_external'>;
export const defaultRemembering: Remembering = { remember: 'none' };

interface Props {
  approval: Approval;
  decision: 'approve' | 'reject';
  value: Remembering;
  onChange: (value: Remembering) => void;
}

/** Whether later calls with the same parameters are decided by this, and which calls these are. */
export function Remember({ approval, decision, value, onChange }: Props) {
  const name = useId();
  const whyNotPolicy = useWhyNot('policies:write');
  const rule = approval.remembers;
  if (rule === null) return null;
  const choose = (remember: Remembering['remember']) =>
    onChange({ remember, remember_external: decision === 'approve' && remember !== 'none' && rule.needs_external });
  const choices = [
    ['none', 'Ask each time', undefined],
    ['run', 'Remember it in this run', undefined],
    ['policy', 'Remember it in all runs of the tenant', whyNotPolicy],
  ] as const;
  return (
    <fieldset className="stack">
      <legend className="label">The next time</legend>
      <div>
        {choices.map(([remember, word, whyNot]) => (
          <label key={remember} className="check">
            <input
              type="radio"
              name={name}
              checked={value.remember === remember}
              disabled={whyNot !== undefined}
              onChange={() => choose(remember)}
            />
            <span>
              {word}
              {whyNot !== undefined && <span className="muted small"> ({whyNot})</span>}
            </span>
          </label>
        ))}
      </div>
      {value.remember !== 'none' && (
        <p className="muted small">
          Exactly this call (<code>{rule.tool}</code> with these arguments
          {rule.leaves_out.length > 0 && (
            <>
              {' '}
              but for <Text>{rule.leaves_out.join(', ')}</Text>, which may differ
            </>
          )}
          {rule.reaches !== null && rule.reaches.length > 0 && (
            <>
              , to <Text>{rule.reaches.join(', ')}</Text>
            </>
          )}
          ){' '}
          {decision === 'approve'
            ? `needs no decision for ${spanText(rule.expires_s * 1000)}, whatever its files are by then.`
            : `is rejected for ${spanText(rule.expires_s * 1000)} without a question, and the planner reads not to try it again.`}
          {decision === 'approve' && rule.needs_external && ' It has effects outside the workspace.'}
        </p>
      )}
      {value.remember !== 'none' && <Contradictions approval={approval} decision={decision} />}
    </fieldset>
  );
}
