import type { McpServer } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { isProblem } from '../../api/problem.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import type { Said } from './compared.tsx';
import { acceptServer, lookAtServer, removeServer, useRereadServers } from './use-servers.ts';

/** Has a worker ask the server for its tools. */
export function LookButton({ server: { name, state }, whyNot }: { server: McpServer; whyNot: string | undefined }) {
  const reread = useRereadServers();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const look = async () => {
    setAsking(true);
    setError(undefined);
    try {
      await lookAtServer(name);
    } catch (refused) {
      setError(refused);
    } finally {
      await reread();
      setAsking(false);
    }
  };
  const off = state === 'invalid' ? 'Its entry cannot be used' : isAsking ? 'Being asked' : undefined;
  return (
    <>
      <Button icon="turn" whyNot={whyNot ?? off} onClick={() => void look()}>
        Ask it now
      </Button>
      {error !== undefined && <ProblemNote error={error} />}
    </>
  );
}

interface AcceptProps {
  /** Gets what was looked at, when the server is another by then. */
  onChanged: (lookedAt: Said) => void;
  onAccepted: () => void;
  name: string;
  /** The digest of the shown entry and tools. */
  digest: string;
  shown: Said;
  onClose: () => void;
}

export function Accept({ name, digest, shown, onChanged, onAccepted, onClose }: AcceptProps) {
  const reread = useRereadServers();
  // The page behind may be read again while the dialog is open: what was looked at stays.
  const [looked] = useState({ digest, shown });
  const accept = async (): Promise<void> => {
    try {
      await acceptServer(name, looked.digest);
      onAccepted();
    } catch (error) {
      if (!isProblem(error, 'mcp_server_changed')) throw error;
      onChanged(looked.shown);
    } finally {
      await reread();
    }
  };
  return (
    <AskDialog title={`Accept ${name}`} word="Let runs call its tools" onSend={accept} onClose={onClose}>
      <p>
        New runs may call {looked.shown.tools.length === 1 ? 'its tool' : `its ${looked.shown.tools.length} tools`} from
        now on, as the page shows them. Any change of its entry or of its tools asks again.
      </p>
      <p className="muted small">
        Digest <code>{looked.digest.slice(0, 16)}</code>
      </p>
    </AskDialog>
  );
}

export function Remove({ name, onClose }: { name: string; onClose: () => void }) {
  const [, go] = useLocation();
  const reread = useRereadServers();
  return (
    <AskDialog
      title={`Remove ${name}`}
      word="Remove it"
      danger
      onSend={() => removeServer(name)}
      onDone={() => {
        go('/servers');
        void reread();
      }}
      onClose={onClose}
    >
      <p>No call of its tools begins from now on. Runs that began with them pause.</p>
    </AskDialog>
  );
}
