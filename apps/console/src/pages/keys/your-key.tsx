import { Text } from '../../parts/text.tsx';
import { wholeTime } from '../../parts/time.tsx';
import { useMe } from '../../session/session.tsx';

/** The key of this login, and what it allows. */
export function YourKey() {
  const { name, kind, tenant, key_id, scopes, expires_at } = useMe();
  return (
    <section className="card pad stack" aria-label="Your key">
      <h2>Your key</h2>
      <dl className="facts">
        <dt>Name</dt>
        <dd>
          <Text>{name}</Text> ({kind}, tenant <Text>{tenant}</Text>)
        </dd>
        <dt>Id</dt>
        <dd className="mono">{key_id}</dd>
        <dt>Expires</dt>
        <dd>{expires_at === null ? 'never' : wholeTime(expires_at)}</dd>
        <dt>Scopes</dt>
        <dd>{scopes.join(', ')}</dd>
      </dl>
    </section>
  );
}
