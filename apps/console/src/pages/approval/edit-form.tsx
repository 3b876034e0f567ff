import type { Tool } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import { Choices } from '../../parts/choices.tsx';
import { ConflictForm } from './conflict-form.tsx';
import { FieldsForm } from './fields-form.tsx';
import type { FormProps } from './form-parts.tsx';
import { JsonForm } from './json-form.tsx';
import { isFlat } from './schema.ts';

/** Other arguments for the call: a field for each where all are flat, otherwise JSON. */
export function EditForm(props: FormProps & { tool: Tool | undefined }) {
  const { approval, decision, tool } = props;
  const { args } = approval.action;
  const [asJson, setAsJson] = useState(false);
  const errors =
    decision.sent.is === 'refused' && decision.sent.error instanceof ApiProblem ? decision.sent.error.errors : [];
  if (approval.kind === 'conflict') return <ConflictForm {...props} />;
  if (approval.cut?.args !== undefined)
    return <p>The arguments are too long to be edited here: use the command line.</p>;
  const canFields = isFlat(tool, args);
  return (
    <>
      {canFields && (
        <Choices
          label="Form"
          value={asJson ? 'json' : 'fields'}
          options={[
            ['fields', 'Fields'],
            ['json', 'JSON'],
          ]}
          onChoose={(form) => setAsJson(form === 'json')}
        />
      )}
      {canFields && !asJson ? (
        <FieldsForm {...props} args={args} errors={errors} />
      ) : (
        <JsonForm {...props} args={args} errors={errors} />
      )}
    </>
  );
}
