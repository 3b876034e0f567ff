import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { LiveState } from '../live/live-state.tsx';
import { Keys } from './keys.tsx';
import { Brand, Navigation } from './navigation.tsx';
import { OldMark } from './old-mark.tsx';

/** The frame of every page: navigation below on a phone, at the side on a wide screen. */
export function Shell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    // Readers of the page and the keyboard go on at the top of the new page.
    if (before.current !== path) main.current?.focus({ preventScroll: true });
    if (before.current !== path) window.scrollTo(0, 0);
    before.current = path;
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the content
      </a>
      <header className="bar">
        <Brand />
        <LiveState />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <OldMark />
        {children}
      </main>
      <Navigation />
      <Keys />
    </div>
  );
}
