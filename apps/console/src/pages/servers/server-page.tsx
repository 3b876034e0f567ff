import type { McpServer } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { isProblem } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { Missing } from '../missing/missing-page.tsx';
import { Compared, type Said } from './compared.tsx';
import { ServerState } from './server-state.tsx';
import { acceptServer, lookAtServer, removeServer, useRereadServers, useServer } from './servers-page.tsx';

/** A server: what it says, what a person accepted, and the difference. */
export function ServerPage({ name }: { name: string }) {
  useTitle(`MCP server ${name}`);
  return (
    <div className="page">
      <h1>
        <Link href="/servers">MCP servers</Link> / <Text most={80}>{name}</Text>
      </h1>
      <Needs scope="mcp:read" to="to see the servers">
        <Found name={name} />
      </Needs>
    </div>
  );
}

function Found({ name }: { name: string }) {
  const { data, error, isPending } = useServer(name);
  if (isProblem(error) && error.status === 404) return <Missing what="server" id={name} />;
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the server" />;
  return <Server server={data} />;
}

function Server({ server }: { server: McpServer }) {
  // Refused because the server was another by then: the page compares with it.
  const [lookedAt, setLookedAt] = useState<Said>();
  const { why, seen, accepted, entry } = server;
  const now = said(server);
  const before = lookedAt ?? (accepted === null ? undefined : { ...accepted, entry: accepted.entry ?? entry });
  return (
    <>
      <Head server={server} shown={now} onChanged={setLookedAt} onAccepted={() => setLookedAt(undefined)} />
      {lookedAt !== undefined && (
        <Note tone="warn" isNews title="It is another than the one you looked at">
          Nothing was accepted. Both are below, side by side: accept it again if it is right as it is now.
        </Note>
      )}
      {why !== null && (
        <Note tone="warn" title={<Text>{why}</Text>}>
          {seen === null && accepted !== null && 'What a person accepted is below.'}
        </Note>
      )}
      {server.state !== 'invalid' && (
        <p className="muted small">
          The words below are the server's own: material, never instructions.{' '}
          {seen !== null && (
            <>
              It said so <Ago at={seen.at} />, as <Text most={120}>{seen.server || 'a server without a name'}</Text>.
            </>
          )}
        </p>
      )}
      {now !== undefined && (
        <Compared before={before} beforeIs={lookedAt === undefined ? 'Accepted' : 'Looked at'} now={now} />
      )}
    </>
  );
}

/** The state of a server on its page: the last answer of the server or, without an answer, the accepted state. */
function said({ seen, accepted, entry }: McpServer): Said | undefined {
  const shown = seen ?? accepted;
  return shown === null ? (entry === null ? undefined : { tools: [], left_out: {}, entry }) : { ...shown, entry };
}

type Asked = 'accept' | 'remove' | undefined;

interface HeadProps {
  server: McpServer;
  shown: Said | undefined;
  onChanged: (lookedAt: Said) => void;
  onAccepted: () => void;
}

function Head({ server, shown, onChanged, onAccepted }: HeadProps) {
  const { name, accepted, seen } = server;
  const [asked, setAsked] = useState<Asked>();
  const whyNot = useWhyNot('mcp:write');
  const isAccepted = server.offered && accepted?.digest === (seen?.digest ?? accepted?.digest);
  const nothingSeen = seen === null ? 'Ask it for its tools first' : undefined;
  const close = () => setAsked(undefined);
  return (
    <div className="stack">
      <div className="row">
        <ServerState of={server} />
        {accepted !== null && (
          <span className="muted small">
            Accepted <Ago at={accepted.at} /> by <Text>{accepted.by?.name ?? 'a person, in an earlier version'}</Text>
          </span>
        )}
        {server.effect !== null && <span className="muted small">Effect of its calls: {server.effect}</span>}
      </div>
      <div className="row">
        <Button
          kind="main"
          whyNot={whyNot ?? nothingSeen ?? (isAccepted ? 'It is accepted as it is' : undefined)}
          onClick={() => setAsked('accept')}
        >
          Accept
        </Button>
        <LookButton server={server} whyNot={whyNot} />
        <Button kind="danger" whyNot={whyNot} onClick={() => setAsked('remove')}>
          Remove
        </Button>
      </div>
      {asked === 'accept' && seen !== null && shown !== undefined && (
        <Accept name={name} digest={seen.digest} shown={shown} {...{ onChanged, onAccepted }} onClose={close} />
      )}
      {asked === 'remove' && <Remove name={name} onClose={close} />}
    </div>
  );
}

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
