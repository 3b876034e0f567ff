import type { Me } from '@holdpoint/contract/wire';
import { ask } from '../api/request.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Text } from '../parts/text.tsx';
import { KeyForm } from './login-form.tsx';

/** Over the page of a session that ended. Another caller gets a fresh page: what was read belongs to the one before. */
export function LoginAgain({ caller, onDone }: { caller: Me; onDone: () => void }) {
  const check = async () => {
    const me = await ask<Me>({ path: '/v1/me' });
    if (me.name !== caller.name || me.tenant !== caller.tenant) location.reload();
    else onDone();
  };
  return (
    <Dialog title="Your session has ended" onClose={() => undefined} mayClose={false}>
      <p className="muted">
        Log in as <Text>{caller.name}</Text> to go on. This page and what you typed are kept.
      </p>
      <KeyForm onDone={() => void check()} />
    </Dialog>
  );
}
