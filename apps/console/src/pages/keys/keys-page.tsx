import type { IssuedKey, Key } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/needs.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { CreateKey } from './create-key.tsx';
import { Issued } from './issued.tsx';
import { RevokeKey, RotateKey } from './key-dialogs.tsx';
import { KeyLine } from './key-line.tsx';
import { useKeyList } from './use-keys.ts';
import { YourKey } from './your-key.tsx';

type Open = { is: 'create' } | { is: 'rotate' | 'revoke'; of: Key } | { is: 'issued'; key: IssuedKey };

/** Who may call the API, and how far. */
export function KeysPage() {
  useTitle('Keys');
  const whyNot = useWhyNot('keys:admin');
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const issued = (key: IssuedKey) => setOpen({ is: 'issued', key });
  return (
    <div className="page">
      <div className="page-head">
        <h1>Keys</h1>
        <Button kind="main" icon="plus" whyNot={whyNot} onClick={() => setOpen({ is: 'create' })}>
          New key
        </Button>
      </div>
      <YourKey />
      <Needs scope="keys:admin" to="to see and manage the keys of your tenant">
        <KeyList onOpen={setOpen} />
      </Needs>
      {open?.is === 'create' && <CreateKey onIssued={issued} onClose={close} />}
      {open?.is === 'rotate' && <RotateKey of={open.of} onIssued={issued} onClose={close} />}
      {open?.is === 'revoke' && <RevokeKey of={open.of} onClose={close} />}
      {open?.is === 'issued' && <Issued issued={open.key} onClose={close} />}
    </div>
  );
}

function KeyList({ onOpen }: { onOpen: (open: Open) => void }) {
  const list = useKeyList();
  const keys = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section className="stack" aria-label="Keys of the tenant">
      {list.error && <ProblemNote error={list.error} />}
      {list.isPending && <Loading of="the keys" />}
      {keys.length > 0 && (
        <ul className="card rows">
          {keys.map((each) => (
            <KeyLine
              key={each.id}
              of={each}
              onRotate={() => onOpen({ is: 'rotate', of: each })}
              onRevoke={() => onOpen({ is: 'revoke', of: each })}
            />
          ))}
        </ul>
      )}
      {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>More keys</Button>}
    </section>
  );
}
