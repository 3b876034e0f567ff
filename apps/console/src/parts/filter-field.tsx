import { type Ref, useEffect, useState } from 'react';
import { Icon, type IconName } from './button.tsx';

interface Props {
  label: string;
  value: string;
  placeholder?: string;
  icon?: IconName;
  ref?: Ref<HTMLInputElement>;
  onChange: (value: string) => void;
}

/** A text that narrows a list a moment after the last letter. */
export function FilterField({ label, value, placeholder = label, icon, ref, onChange }: Props) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: waits for the letters alone
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label className="filter-field">
      <span className="hidden-text">{label}</span>
      {icon && <Icon name={icon} />}
      <input
        ref={ref}
        type="search"
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        onChange={({ target }) => setText(target.value)}
        data-search={icon === 'search' ? '' : undefined}
      />
    </label>
  );
}
