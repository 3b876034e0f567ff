import type { ReactNode } from 'react';
import { Icon, type IconName } from './button.tsx';

interface Props {
  icon: IconName;
  title: string;
  /** It is all that the page has. */
  isPage?: boolean;
  children?: ReactNode;
}

export const Empty = ({ icon, title, isPage = false, children }: Props) => (
  <div className="empty">
    <Icon name={icon} />
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
);

/** Bars in the place of what is being read. */
export const Loading = ({ lines = 5, of: subject }: { lines?: number; of: string }) => (
  <div className="stack" role="status">
    <span className="hidden-text">Reading {subject}</span>
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike
      <div key={line} className="loading pulse" />
    ))}
  </div>
);
