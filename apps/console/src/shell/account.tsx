import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Text } from '../parts/text.tsx';
import { useMe } from '../session/session.tsx';
import { LettersSwitch } from './keys-help.tsx';
import { Passkeys } from './passkeys.tsx';
import { PushSwitch } from './push-switch.tsx';
import { themes, useTheme } from './theme.ts';

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
export function Account({ onClose }: { onClose: () => void }) {
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
