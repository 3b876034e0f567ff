import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link, useLocation, useRoute } from 'wouter';
import { useApprovalCounts } from '../api/approvals.ts';
import { ask } from '../api/request.ts';
import { useLiveState } from '../live/live.ts';
import { LiveState } from '../live/live-state.tsx';
import { Button, Icon, type IconName } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { ProblemNote, Text } from '../parts/text.tsx';
import { wholeTime } from '../parts/time.tsx';
import { useMe } from '../session/session.tsx';
import { Keys } from './keys.tsx';
import { LettersSwitch } from './keys-help.tsx';
import { Passkeys } from './passkeys.tsx';
import { canGetPushes, getsPushes, startPushes, stopPushes } from './push-device.ts';
import { themes, useTheme } from './theme.ts';

const key = ['pushes'];

/** Turns notifications of approvals and ends of runs on and off, for this device. */
function PushSwitch() {
  const id = useId();
  const queries = useQueryClient();
  const isOn = useQuery({ queryKey: key, queryFn: getsPushes, enabled: canGetPushes(), retry: false });
  const change = useMutation({
    mutationFn: (on: boolean) => (on ? startPushes() : stopPushes()),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
  if (!canGetPushes())
    return <p className="muted">This browser gets no notifications. On a phone, install the page first.</p>;
  return (
    <>
      <label className="check" htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          checked={isOn.data === true}
          disabled={isOn.isPending || change.isPending}
          onChange={({ target }) => change.mutate(target.checked)}
        />
        Notify this device of approvals and ends of runs
      </label>
      {change.error !== null && <ProblemNote error={change.error} />}
    </>
  );
}

/** Pages that are not opened each day. On a phone the navigation has no room for them. */
const morePlaces = [
  ['/schedules', 'Schedules'],
  ['/policies', 'Policies'],
  ['/webhooks', 'Webhooks'],
  ['/servers', 'MCP servers'],
  ['/audit', 'Audit'],
  ['/keys', 'Keys'],
  ['/sessions', 'Sessions'],
] as const;

/** Who is logged in, the colours, and the way out. */
function Account({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const queries = useQueryClient();
  const [theme, choose] = useTheme();
  const logOut = async () => {
    await ask({ method: 'DELETE', path: '/v1/session' });
    queries.clear();
    location.assign('/login');
  };
  return (
    <Dialog title={<Text>{me.name}</Text>} onClose={onClose}>
      <dl className="facts">
        <dt>Kind</dt>
        <dd>{me.kind}</dd>
        <dt>Tenant</dt>
        <dd>
          <Text>{me.tenant}</Text>
        </dd>
        <dt>Scopes</dt>
        <dd>{me.scopes.join(', ')}</dd>
      </dl>
      <nav className="row" aria-label="More pages">
        {morePlaces.map(([to, name]) => (
          <Link key={to} href={to} className="button slim" onClick={onClose}>
            {name}
          </Link>
        ))}
      </nav>
      <fieldset className="stack">
        <legend className="label">Colours</legend>
        <div className="choices">
          {themes.map((each) => (
            <button
              key={each}
              type="button"
              className="choice"
              aria-pressed={each === theme}
              onClick={() => choose(each)}
            >
              {each}
            </button>
          ))}
        </div>
      </fieldset>
      <LettersSwitch />
      <PushSwitch />
      <Passkeys />
      <div className="dialog-foot">
        <Button icon="leave" onClick={() => void logOut()}>
          Log out
        </Button>
        <Button kind="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

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

function Navigation() {
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

const Brand = () => (
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

/** Says above every page that it may be old, while the API is away. */
function OldMark() {
  const state = useLiveState();
  if (state.is !== 'offline') return null;
  return (
    <div className="old-mark" role="status">
      <Note tone="warn" title="The server does not answer">
        What stands here is as it was at {wholeTime(new Date(state.since).toISOString())}. Nothing is sent by itself:
        what you decide now has to be sent again.
      </Note>
    </div>
  );
}
