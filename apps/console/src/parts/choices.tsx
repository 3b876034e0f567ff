import type { ReactNode } from 'react';

interface Props<Value extends string> {
  label: string;
  options: readonly (readonly [Value, ReactNode])[];
  value: Value;
  onChoose: (value: Value) => void;
}

/** One of a few. */
export const Choices = <Value extends string>({ label, options, value, onChoose }: Props<Value>) => (
  <fieldset className="choices">
    <legend className="hidden-text">{label}</legend>
    {options.map(([each, word]) => (
      <button key={each} type="button" className="choice" aria-pressed={each === value} onClick={() => onChoose(each)}>
        {word}
      </button>
    ))}
  </fieldset>
);
