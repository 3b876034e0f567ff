import type { Me } from '@holdpoint/contract/wire';
import { useEffect } from 'react';
import { ask } from '../api/request.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Text } from '../parts/text.tsx';
import { KeyForm, SignIn } from './login-form.tsx';

/** Over the page of a session that ended. Another caller gets a fresh page: what was read belongs to the one before. */
export function LoginAgain({ caller, onDone }: { caller: Me; onDone: () => void }) {
  const check = async () => {
    const me = await ask<Me>({ path: '/v1/me' });
    if (me.name !== caller.name || me.tenant !== caller.tenant) location.reload();
    else onDone();
  };
  // A sign-in happens in another tab, so nothing typed here is lost; this page looks when it is in front again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: one listener while the dialog is open
  useEffect(() => {
    const look = () => void check().catch(() => undefined);
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);
  return (
    <Dialog title="Your session has ended" onClose={() => undefined} mayClose={false}>
      <p className="muted">
        Log in as <Text>{caller.name}</Text> to go on. This page and what you typed are kept.
      </p>
      <SignIn to="/" keepsPage />
      <KeyForm onDone={() => void check()} />
    </Dialog>
  );
}
