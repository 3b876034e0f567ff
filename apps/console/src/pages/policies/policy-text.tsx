import { type Ref, useId } from 'react';

interface Props {
  ref: Ref<HTMLTextAreaElement>;
  value: string;
  isWrong: boolean;
  onChange: (value: string) => void;
}

export function PolicyText({ ref, value, isWrong, onChange }: Props) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Policy as YAML or JSON</label>
      <textarea
        id={id}
        ref={ref}
        className="code policy-text"
        rows={Math.min(30, Math.max(12, value.split('\n').length + 1))}
        value={value}
        spellCheck={false}
        aria-invalid={isWrong || undefined}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}
