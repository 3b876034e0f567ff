import { type ReactNode, useState } from 'react';
import { Link, useRoute } from 'wouter';
import { useApprovalCounts } from '../api/approvals.ts';
import { LiveState } from '../live/live-state.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Text } from '../parts/text.tsx';
import { useMe } from '../session/session.tsx';
import { Account } from './account.tsx';

interface Named {
  to: string;
  below: string;
  icon: IconName;
  name: string;
}

const places: readonly Named[] = [
  { to: '/approvals', below: '/approvals/*?', icon: 'inbox', name: 'Inbox' },
  { to: '/runs', below: '/runs/*?', icon: 'runs', name: 'Runs' },
  { to: '/new', below: '/new', icon: 'plus', name: 'New run' },
];

/** On a phone they are in the dialog of `More`. */
const more: readonly Named[] = [
  { to: '/schedules', below: '/schedules/*?', icon: 'clock', name: 'Schedules' },
  { to: '/policies', below: '/policies/*?', icon: 'shield', name: 'Policies' },
  { to: '/webhooks', below: '/webhooks/*?', icon: 'out', name: 'Webhooks' },
  { to: '/servers', below: '/servers/*?', icon: 'out', name: 'MCP servers' },
  { to: '/audit', below: '/audit', icon: 'check', name: 'Audit' },
  { to: '/keys', below: '/keys', icon: 'lock', name: 'Keys' },
  { to: '/sessions', below: '/sessions', icon: 'globe', name: 'Sessions' },
];

export function Navigation() {
  const [isOpen, setOpen] = useState(false);
  const me = useMe();
  return (
    <nav className="nav" aria-label="Pages">
      <Brand />
      <ul>
        {places.map((place) => (
          <Place key={place.to} {...place} />
        ))}
        {more.map((place) => (
          <li key={place.to} className="wide-only">
            <NavLink {...place} />
          </li>
        ))}
        <li>
          <button type="button" className="nav-link" onClick={() => setOpen(true)} aria-haspopup="dialog">
            <Icon name="more" />
            More
          </button>
        </li>
      </ul>
      <div className="foot">
        <LiveState />
        <span className="small muted one-line">
          <Text>{me.name}</Text>
        </span>
      </div>
      {isOpen && <Account onClose={() => setOpen(false)} />}
    </nav>
  );
}

export const Brand = () => (
  <Link href="/approvals" className="brand">
    <img src="/icons/icon.svg" alt="" />
    Holdpoint
  </Link>
);

function Place({ to, below, icon, name }: Named) {
  const { data } = useApprovalCounts();
  const count = to === '/approvals' ? (data?.by_status.pending ?? 0) : 0;
  return (
    <li>
      <NavLink to={to} below={below} icon={icon} name={name}>
        {count > 0 && (
          <span className="count">
            {count > 999 ? '999+' : count}
            <span className="hidden-text"> waiting</span>
          </span>
        )}
      </NavLink>
    </li>
  );
}

function NavLink({ to, below, icon, name, children }: Named & { children?: ReactNode }) {
  const [isHere] = useRoute(below);
  return (
    <Link href={to} className="nav-link" aria-current={isHere ? 'page' : undefined}>
      <Icon name={icon} />
      {name}
      {children}
    </Link>
  );
}
