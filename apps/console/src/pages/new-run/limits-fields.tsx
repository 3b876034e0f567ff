import type { PointerError } from '@holdpoint/contract/wire';
import type { Draft } from './draft.ts';
import { Field } from './field.tsx';

interface Props {
  draft: Draft;
  set: <Name extends keyof Draft>(name: Name) => (value: Draft[Name]) => void;
  errors: readonly PointerError[];
}

export function LimitsFields({ draft, set, errors }: Props) {
  const at = (pointer: string) => ({ errors: errors.filter((each) => each.pointer.startsWith(pointer)) });
  return (
    <>
      <Field label="Most steps" value={draft.steps} onChange={set('steps')} {...at('/limits/max_steps')} />
      <Field
        label="Most cost in US dollars"
        value={draft.cost}
        onChange={set('cost')}
        {...at('/limits/max_cost_usd')}
      />
      <Field
        label="Validators"
        rows={3}
        code
        value={draft.validators}
        onChange={set('validators')}
        hint="One command a line. All must pass on exactly the files that are published"
        {...at('/validators')}
      />
      <Field
        label="Labels"
        value={draft.labels}
        onChange={set('labels')}
        hint="name=value, separated by commas"
        {...at('/labels')}
      />
    </>
  );
}
