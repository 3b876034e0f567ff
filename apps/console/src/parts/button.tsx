import type { ButtonHTMLAttributes } from 'react';

/** Drawings on a grid of 16, as SVG paths. */
const drawings = {
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 1.5h3l1-1.5H14',
  runs: 'M5.5 4H14M5.5 8H14M5.5 12H14M2.2 4h.1M2.2 8h.1M2.2 12h.1',
  plus: 'M8 3v10M3 8h10',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  pause: 'M5.5 4v8M10.5 4v8',
  play: 'M5 3.5v9l7.5-4.5z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  alert: 'M8 2.2 14.2 13H1.8zM8 6.4v3M8 11.4v.1',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.4V11M8 5v.1',
  question: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.4 6.4a1.7 1.7 0 1 1 2.3 1.6c-.5.2-.7.5-.7 1M8 11.2v.1',
  hold: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.5 6v4M9.5 6v4',
  dot: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  ring: 'M8 13A5 5 0 1 0 8 3a5 5 0 0 0 0 10z',
  turn: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  out: 'M9.5 3H13v3.5M13 3 7.5 8.5M11 9.5V13H3V5h3.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.1M6.7 6.5h.1M9.3 6.5h.1M12 6.5h.1M5 9.5h6',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  leave: 'M6.5 2.5H3v11h3.5M10 5l3 3-3 3M13 8H6.5',
  fork: 'M4.5 6v4M4.5 6a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 13.4a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 6a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 6c0 2.5-3 2.3-5.6 3.2',
  globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2.2 2 2.2 10 0 12-2.2-2-2.2-10 0-12z',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.7 14.2h2.6',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z',
  lock: 'M3.5 7.5h9V14h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  shield: 'M8 1.8 13 4v4c0 3-2 5-5 6.2C5 13 3 11 3 8V4z',
} as const;
export type IconName = keyof typeof drawings;

/** Decoration beside a word: never the only sign of something. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={drawings[name]} />
  </svg>
);

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
