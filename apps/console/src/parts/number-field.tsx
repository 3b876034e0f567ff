import { useId } from 'react';

interface Props {
  label: string;
  most: number;
  value: string;
  onChange: (value: string) => void;
}

/** A whole number from 1 on, with its label before it. */
export function NumberField({ label, most, value, onChange }: Props) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="days"
        type="number"
        min="1"
        max={most}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </>
  );
}
