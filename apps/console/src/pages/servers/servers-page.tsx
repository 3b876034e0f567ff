import type { McpServer } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { type EntryKind, entryOf } from './entry-form.ts';
import { ServerState } from './server-state.tsx';

const queryKey = ['mcp-servers'];
const at = (name: string, rest = ''): string => `/v1/mcp/servers/${encodeURIComponent(name)}${rest}`;

export const useServerList = () =>
  useQuery({
    queryKey,
    queryFn: ({ signal }) => ask<{ data: McpServer[] }>({ path: '/v1/mcp/servers', signal }),
    staleTime: 0,
  });

export const useServer = (name: string) =>
  useQuery({
    queryKey: [...queryKey, name],
    queryFn: ({ signal }) => ask<McpServer>({ path: at(name), signal }),
    staleTime: 0,
  });

/** The servers are read again after a request, whatever its answer. */
export function useRereadServers(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey });
}

export const addServer = (body: { name: string; server: object }): Promise<McpServer> =>
  ask({ method: 'POST', path: '/v1/mcp/servers', body });

export const lookAtServer = (name: string): Promise<McpServer> => ask({ method: 'POST', path: at(name, '/look') });

/** @param digest of what the page shows */
export const acceptServer = (name: string, digest: string): Promise<McpServer> =>
  ask({ method: 'POST', path: at(name, '/accept'), body: { digest } });

export const removeServer = (name: string): Promise<McpServer> => ask({ method: 'DELETE', path: at(name) });

const kinds: readonly (readonly [EntryKind, string])[] = [
  ['address', 'An address'],
  ['program', 'A program'],
];

/** Adding lets no run use the server: that is the acceptance. */
export function AddServer({ onAdded, onClose }: { onAdded: (name: string) => void; onClose: () => void }) {
  const reread = useRereadServers();
  const [kind, setKind] = useState<EntryKind>('address');
  const add = (given: FormData) =>
    addServer({ name: String(given.get('name')).trim(), server: entryOf(kind, given) }).finally(reread);
  return (
    <AskDialog
      title="Add a server"
      word="Add it and ask it for its tools"
      onSend={add}
      onDone={({ name }) => onAdded(name)}
      onClose={onClose}
    >
      <Choices label="What it is" value={kind} options={kinds} onChoose={setKind} />
      <Field label="Name" hint="Small letters, digits and -">
        {(id) => <input id={id} name="name" required autoComplete="off" spellCheck={false} />}
      </Field>
      {kind === 'address' ? <AddressFields /> : <ProgramFields />}
    </AskDialog>
  );
}

const AddressFields = () => (
  <>
    <Field label="Address" hint="Streamable HTTP">
      {(id) => <input id={id} name="url" type="url" required autoComplete="off" spellCheck={false} />}
    </Field>
    <Field label="Headers, one a line" hint="Authorization: Bearer {NAME} has the secret NAME of the secret store">
      {(id) => <textarea id={id} name="headers" rows={2} spellCheck={false} />}
    </Field>
  </>
);

const ProgramFields = () => (
  <>
    <Note tone="warn" title="It is code that runs in sandboxes">
      On the files of each run that calls its tools, and never outside a sandbox.
    </Note>
    <Field label="Program" hint="As commands of a run find it">
      {(id) => <input id={id} name="command" required autoComplete="off" spellCheck={false} />}
    </Field>
    <Field label="Arguments, one a line">{(id) => <textarea id={id} name="args" rows={2} spellCheck={false} />}</Field>
    <Field label="Variables, one a line" hint="NAME=value, in the clear">
      {(id) => <textarea id={id} name="env" rows={2} spellCheck={false} />}
    </Field>
    <label className="check">
      <input type="checkbox" name="read_only" />
      It gets the files of a run read-only
    </label>
    <label className="check">
      <input type="checkbox" name="network" />
      It reaches the hosts of the run
    </label>
  </>
);

function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </div>
  );
}

/** The outside MCP servers of the installation. */
export function ServersPage() {
  useTitle('MCP servers');
  const [, go] = useLocation();
  const whyNot = useWhyNot('mcp:write');
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="page">
      <div className="page-head">
        <h1>MCP servers</h1>
        <Button kind="main" icon="plus" whyNot={whyNot} onClick={() => setAdding(true)}>
          Add a server
        </Button>
      </div>
      <p className="muted">
        Outside servers whose tools runs may call. No run uses one before a person has seen and accepted what it says.
      </p>
      <Needs scope="mcp:read" to="to see the servers">
        <ServerList />
      </Needs>
      {isAdding && <AddServer onAdded={(name) => go(`/servers/${name}`)} onClose={() => setAdding(false)} />}
    </div>
  );
}

function ServerList() {
  const { data, error, isPending } = useServerList();
  if (error) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the servers" />;
  if (data.data.length === 0) {
    return (
      <Empty icon="out" title="No server yet">
        <p>A server is an address, or a program that runs in the sandbox of each run.</p>
      </Empty>
    );
  }
  return (
    <ul className="card rows" aria-label="MCP servers">
      {data.data.map((server) => (
        <ServerLine key={server.name} server={server} />
      ))}
    </ul>
  );
}

function ServerLine({ server }: { server: McpServer }) {
  const { name, entry, why, accepted, effect } = server;
  const place = entry?.url ?? [entry?.command ?? '', ...(entry?.args ?? [])].join(' ');
  return (
    <li className="line plain">
      <div className="line-body">
        <div className="row">
          <Link href={`/servers/${encodeURIComponent(name)}`} className="line-link" data-row="">
            <Text most={80}>{name}</Text>
          </Link>
          <ServerState of={server} />
        </div>
        <div className="line-meta">
          {place !== '' && (
            <code className="server-place">
              <Text most={200}>{place}</Text>
            </code>
          )}
          {effect !== null && <span>effect: {effect}</span>}
          {accepted !== null && (
            <span>
              {accepted.tools.length} {accepted.tools.length === 1 ? 'tool' : 'tools'} accepted <Ago at={accepted.at} />
            </span>
          )}
        </div>
        {why !== null && (
          <p className="small muted">
            <Text most={300}>{why}</Text>
          </p>
        )}
      </div>
    </li>
  );
}
