import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  kind?: 'plain' | 'main' | 'quiet' | 'danger' | 'danger main';
  slim?: boolean;
  icon?: IconName;
  /** Set while it cannot be used; the button keeps its focus and says why. */
  whyNot?: string | undefined;
}

/** A button. `aria-disabled` instead of `disabled`: who comes by keyboard reaches the reason as well. */
export function Button({ kind = 'plain', slim = false, icon, whyNot, onClick, children, type, ...rest }: Props) {
  const isOff = whyNot !== undefined;
  return (
    <button
      {...rest}
      type={type ?? 'button'}
      className={`button ${kind}${slim ? ' slim' : ''}`}
      aria-disabled={isOff || undefined}
      title={whyNot ?? rest.title}
      onClick={(event) => {
        if (isOff) return event.preventDefault();
        onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
      {isOff && <span className="hidden-text">({whyNot})</span>}
    </button>
  );
}
