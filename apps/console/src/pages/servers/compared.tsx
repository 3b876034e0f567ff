import type { McpEntry, McpServer, McpTool } from '@holdpoint/contract/wire';
import type { ReactNode } from 'react';
import { Badge } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text, Value } from '../../parts/text.tsx';

/** The tools and the entry of a server, as a person compares them. */
export interface Said extends Pick<NonNullable<McpServer['seen']>, 'tools' | 'left_out'> {
  entry: McpEntry | null;
}

interface Props {
  before: Said | undefined;
  /** The name of `before`, such as `Accepted`. */
  beforeIs: string;
  now: Said;
}

/** The entry and each tool of a server: alone, or beside what they were. */
export function Compared({ before, beforeIs, now }: Props) {
  const names = [...new Set([...now.tools, ...(before?.tools ?? [])].map(({ name }) => name))];
  const tool = (said: Said | undefined, name: string) => said?.tools.find((one) => one.name === name);
  return (
    <>
      <section className="stack" aria-label="Entry">
        <h2>Entry</h2>
        <Pair
          before={before?.entry ?? undefined}
          now={now.entry ?? undefined}
          beforeIs={beforeIs}
          show={(entry, is) => <EntryText entry={entry} label={`Entry, ${is}`} />}
        />
      </section>
      <section className="stack" aria-label="Tools">
        <h2>Tools</h2>
        {names.map((name) => (
          <Tool key={name} before={tool(before, name)} now={tool(now, name)} beforeIs={beforeIs} isFirst={!before} />
        ))}
        {Object.entries(now.left_out).map(([name, why]) => (
          <p key={name} className="small">
            Left out: <Text most={100}>{name}</Text> (<Text most={300}>{why}</Text>)
          </p>
        ))}
      </section>
    </>
  );
}

interface ToolProps {
  before: McpTool | undefined;
  now: McpTool | undefined;
  beforeIs: string;
  /** The server has no accepted state to compare with. */
  isFirst: boolean;
}

function Tool({ before, now, beforeIs, isFirst }: ToolProps) {
  const { called, risk } = now ?? before ?? { called: '', risk: 'medium' };
  return (
    <section className="card server-tool stack">
      <h3 className="row">
        <Text>{called}</Text>
        {risk === 'high' && <Badge tone="warn">says that it destroys</Badge>}
        {!isFirst && <Difference before={before} now={now} />}
      </h3>
      <Pair
        before={before}
        now={now}
        beforeIs={beforeIs}
        show={(tool, is) => <ToolText tool={tool} label={`${called}, ${is}`} />}
      />
    </section>
  );
}

function Difference({ before, now }: Pick<ToolProps, 'before' | 'now'>) {
  if (before === undefined) return <Badge tone="warn">new</Badge>;
  if (now === undefined) return <Badge tone="warn">gone</Badge>;
  return isSame(before, now) ? null : <Badge tone="warn">changed</Badge>;
}

interface PairProps<Thing> {
  before: Thing | undefined;
  now: Thing | undefined;
  beforeIs: string;
  show: (thing: Thing, is: string) => ReactNode;
}

/** Two that are equal are shown once. */
function Pair<Thing>({ before, now, beforeIs, show }: PairProps<Thing>) {
  if (before === undefined || now === undefined || isSame(before, now)) {
    const one = now ?? before;
    return one === undefined ? null : show(one, now === undefined ? beforeIs : 'now');
  }
  return (
    <div className="side-by-side">
      <div className="stack tight">
        <strong>{beforeIs}</strong>
        {show(before, beforeIs)}
      </div>
      <div className="stack tight">
        <strong>Now</strong>
        {show(now, 'now')}
      </div>
    </div>
  );
}

const EntryText = ({ entry, label }: { entry: McpEntry; label: string }) => <Frame label={label} value={entry} />;

const ToolText = ({ tool: { description, input_schema }, label }: { tool: McpTool; label: string }) => (
  <>
    <Frame label={`Description of ${label}`} value={description} />
    <Frame label={`Input of ${label}`} value={input_schema} />
  </>
);

const Frame = ({ label, value }: { label: string; value: unknown }) => (
  <LongText label={label}>
    <pre>
      <Value value={value} />
    </pre>
  </LongText>
);

/** The order of the members of an object says nothing. */
const isSame = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
