import type { ReactNode } from 'react';
import type { Tone } from './badge.tsx';
import { Icon, type IconName } from './icon.tsx';

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
