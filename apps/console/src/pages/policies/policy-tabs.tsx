import { Link, useLocation } from 'wouter';

const tabs = [
  ['/policies', 'Policies'],
  ['/rules', 'Remembered'],
  ['/replay', 'Replay'],
  ['/proposals', 'Proposals'],
] as const;

export function PolicyTabs() {
  const [path] = useLocation();
  return (
    <nav className="tabs" aria-label="Parts of the policies">
      {tabs.map(([to, name]) => (
        <Link key={to} href={to} aria-current={path === to ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
