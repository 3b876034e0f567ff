import { Field, type FieldOf } from './field.tsx';

export const LimitsFields = ({ field }: { field: FieldOf }) => (
  <>
    <Field label="Most steps" {...field('steps', '/limits/max_steps')} />
    <Field label="Most cost in US dollars" {...field('cost', '/limits/max_cost_usd')} />
    <Field
      label="Validators"
      rows={3}
      code
      hint="One command a line. All must pass on exactly the files that are published"
      {...field('validators', '/validators')}
    />
    <Field label="Labels" hint="name=value, separated by commas" {...field('labels', '/labels')} />
  </>
);
