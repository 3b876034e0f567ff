import type { PointerError } from '@holdpoint/contract/wire';
import { useId, useState } from 'react';
import { parseJson } from '../../parts/json-text.ts';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { EditFoot, type FormProps } from './fields-form.tsx';
import { lineOf } from './line-of.ts';

interface Props extends FormProps {
  args: unknown;
  errors: readonly PointerError[];
}

/** The arguments as JSON. Malformed JSON is not sent; the API's mistakes come with their lines. */
export function JsonForm({ args, errors, ...form }: Props) {
  const id = useId();
  const [original] = useState(() => JSON.stringify(args, null, 2));
  const [text, setText] = useState(original);
  const parsed = parseJson(text);
  const whyNot = !parsed.ok ? 'The JSON is malformed' : text === original ? 'Nothing is changed yet' : undefined;
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Arguments as JSON</label>
        <textarea
          id={id}
          className="code"
          rows={Math.min(24, text.split('\n').length + 2)}
          spellCheck={false}
          value={text}
          aria-invalid={!parsed.ok || errors.length > 0 || undefined}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => setText(target.value)}
        />
        <div id={`${id}-hint`}>
          {!parsed.ok && (
            <p className="mistake" role="alert">
              Line {parsed.line}, column {parsed.column}: <Text>{parsed.detail}</Text>
            </p>
          )}
        </div>
      </div>
      {errors.length > 0 && (
        <Note tone="bad" title="The API refuses these">
          <ul>
            {errors.map(({ pointer, detail }) => (
              <li key={pointer}>
                Line {lineOf(text, pointer.replace(/^\/args/, ''))}: <Text>{`${pointer} ${detail}`}</Text>
              </li>
            ))}
          </ul>
        </Note>
      )}
      <EditFoot {...form} args={parsed.ok ? parsed.value : undefined} whyNot={whyNot} />
    </>
  );
}
