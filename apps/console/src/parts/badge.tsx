import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'quiet' | 'good' | 'bad' | 'warn' | 'info';

/** A word with a sign: its colour says nothing that the word does not. */
export const Badge = ({ tone = 'quiet', icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) => (
  <span className={`badge ${tone}`}>
    {icon && <Icon name={icon} />}
    {children}
  </span>
);
