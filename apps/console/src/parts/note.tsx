import type { ReactNode } from 'react';
import { Icon, type IconName } from './button.tsx';

export type Tone = 'quiet' | 'good' | 'bad' | 'warn' | 'info';

/** A word with a sign: its colour says nothing that the word does not. */
export const Badge = ({ tone = 'quiet', icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) => (
  <span className={`badge ${tone}`}>
    {icon && <Icon name={icon} />}
    {children}
  </span>
);

const icons: Record<Tone, IconName> = { quiet: 'info', info: 'info', good: 'check', warn: 'alert', bad: 'alert' };

interface Props {
  tone?: Tone;
  title?: ReactNode;
  /** Read out as soon as it appears. */
  isNews?: boolean;
  children?: ReactNode;
}

/** Something that a person has to know before they go on. */
export const Note = ({ tone = 'quiet', title, isNews = false, children }: Props) => (
  <div className={`note ${tone}`} role={isNews ? 'alert' : undefined}>
    <Icon name={icons[tone]} />
    {title && <strong>{title}</strong>}
    {children && <div>{children}</div>}
  </div>
);
