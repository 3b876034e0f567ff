import type { PointerError } from '@holdpoint/contract/wire';
import { useId } from 'react';
import { Text } from '../../parts/text.tsx';

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  rows?: number;
  code?: boolean;
  malformed?: string | undefined;
  errors: readonly PointerError[];
}

/** A labelled field with what the API says of it. */
export function Field({ label, value, onChange, hint, rows, code = false, malformed, errors }: Props) {
  const id = useId();
  const isWrong = errors.length > 0 || malformed !== undefined;
  const shared = { id, value, 'aria-invalid': isWrong || undefined, 'aria-describedby': `${id}-hint` };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...shared} spellCheck={false} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <textarea
          {...shared}
          rows={rows}
          className={code ? 'code' : ''}
          spellCheck={!code}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      <div id={`${id}-hint`}>
        {malformed !== undefined && (
          <p className="mistake" role="alert">
            <Text>{malformed}</Text>
          </p>
        )}
        {errors.map(({ pointer, detail }) => (
          <p key={pointer + detail} className="mistake">
            <Text>{`${pointer} ${detail}`}</Text>
          </p>
        ))}
        {hint !== undefined && <p className="hint">{hint}</p>}
      </div>
    </div>
  );
}
