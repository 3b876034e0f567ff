import type { Approval, Tool } from '@holdpoint/contract/wire';
import { LongText } from '../../parts/reading.tsx';
import { isLongValue, Text, Value } from '../../parts/text.tsx';
import { propertiesOf } from './fields-form.tsx';

/** The arguments of a call in the order of the tool's schema, with its words for each. */
export function CallArguments({ approval, tool }: { approval: Approval; tool: Tool | undefined }) {
  const { args } = approval.action;
  if (approval.readable.hidden) {
    return (
      <LongText label="Arguments">
        <pre>
          <Text escaped>{approval.readable.args}</Text>
        </pre>
      </LongText>
    );
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return (
      <LongText label="Arguments">
        <pre>
          <Value value={args} />
        </pre>
      </LongText>
    );
  }
  const properties = propertiesOf(tool);
  const known = Object.keys(properties).filter((name) => Object.hasOwn(args, name));
  const names = [...known, ...Object.keys(args).filter((name) => !known.includes(name))];
  if (names.length === 0) return <p className="muted">The call has no arguments.</p>;
  return (
    <dl className="arguments">
      {names.map((name) => (
        <div key={name} className={isLongValue(args[name]) ? 'argument long' : 'argument'}>
          <dt>
            <code>
              <Text>{name}</Text>
            </code>
            {properties[name]?.description && (
              <span className="muted small">
                <Text most={160}>{properties[name].description}</Text>
              </span>
            )}
          </dt>
          <dd>
            {isLongValue(args[name]) ? (
              <LongText label={`Argument ${name}`}>
                <pre>
                  <Value value={args[name]} />
                </pre>
              </LongText>
            ) : (
              <code>
                <Value value={args[name]} />
              </code>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
