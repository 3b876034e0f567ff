import type { PointerError } from '@holdpoint/contract/wire';
import { useId } from 'react';
import { Text } from '../../parts/text.tsx';
import type { Draft } from './draft.ts';

interface Typed {
  value: string;
  onChange: (value: string) => void;
  errors: readonly PointerError[];
}

interface Props extends Typed {
  label: string;
  hint?: string;
  rows?: number;
  code?: boolean;
  malformed?: string | undefined;
}

type TextName = { [Name in keyof Draft]: string extends Draft[Name] ? Name : never }[keyof Draft];

/** Ties a field to its text of the draft, and to the part of the request that the API's errors point at. */
export type FieldOf = (name: TextName, pointer: string) => Typed;

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
