import { useState } from 'react';
import { Link, useRoute } from 'wouter';
import { useApprovalCounts } from '../api/approvals.ts';
import { LiveState } from '../live/live-state.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Text } from '../parts/text.tsx';
import { useMe } from '../session/session.tsx';
import { Account } from './account.tsx';

const places: readonly { to: string; below: string; icon: IconName; name: string }[] = [
  { to: '/approvals', below: '/approvals/*?', icon: 'inbox', name: 'Inbox' },
  { to: '/runs', below: '/runs/*?', icon: 'runs', name: 'Runs' },
  { to: '/new', below: '/new', icon: 'plus', name: 'New run' },
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

function Place({ to, below, icon, name }: (typeof places)[number]) {
  const [isHere] = useRoute(below);
  const { data } = useApprovalCounts();
  const count = to === '/approvals' ? (data?.by_status.pending ?? 0) : 0;
  return (
    <li>
      <Link href={to} className="nav-link" aria-current={isHere ? 'page' : undefined}>
        <Icon name={icon} />
        {name}
        {count > 0 && (
          <span className="count">
            {count > 999 ? '999+' : count}
            <span className="hidden-text"> waiting</span>
          </span>
        )}
      </Link>
    </li>
  );
}
