import type { Approval, PointerError, Tool } from '@holdpoint/contract/wire';
import { type RefObject, useId, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import type { Decision } from './use-decision.ts';

export interface FormProps {
  approval: Approval;
  decision: Decision;
  /** What ⌘/Ctrl+Enter does. */
  confirm: RefObject<() => void>;
  onClose: () => void;
}

/** The call that is decided on, in one frame. */
export const CallLine = ({ approval }: { approval: Approval }) => (
  <LongText label="The call" counts={false} className="call-line">
    <pre>
      <strong>{approval.action.tool}</strong>
      {'\n'}
      <Text escaped>{approval.display ?? approval.readable.args}</Text>
    </pre>
  </LongText>
);

interface FootProps {
  word: string;
  kind?: 'main' | 'danger main';
  whyNot?: string | undefined;
  /** The approval asks for a passkey. */
  byPasskey?: boolean;
  decision: Decision;
  onConfirm: () => void;
  onClose: () => void;
}

export function Foot({ word, kind = 'main', whyNot, byPasskey = false, decision, onConfirm, onClose }: FootProps) {
  const isSending = decision.sent.is === 'sending';
  return (
    <div className="dialog-foot">
      {byPasskey && <p className="muted small">Your passkey confirms it.</p>}
      <Button onClick={onClose}>Back</Button>
      <Button kind={kind} onClick={onConfirm} whyNot={isSending ? 'Being sent' : whyNot}>
        {isSending ? (byPasskey ? 'Waiting for your passkey …' : 'Sending …') : word}
        <kbd>{/mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl'} ↵</kbd>
      </Button>
    </div>
  );
}

interface EditProps extends FormProps {
  args: unknown;
  whyNot: string | undefined;
}

/** Sends the arguments of an edit, or the chosen versions of a publish. */
export function EditFoot({ approval, decision, confirm, onClose, args, whyNot }: EditProps) {
  const isCall = approval.step_id !== null;
  const send = () => {
    if (whyNot === undefined) void decision.send({ decision: 'edit', args: args as never });
  };
  confirm.current = send;
  return (
    <>
      {isCall && <p className="muted small">The policies judge the new call before it runs.</p>}
      <Foot
        byPasskey={approval.confirm === 'passkey'}
        word={isCall ? 'Approve with these' : 'Publish with these'}
        whyNot={whyNot}
        decision={decision}
        onConfirm={send}
        onClose={onClose}
      />
    </>
  );
}

export interface Property {
  type?: unknown;
  description?: string;
  enum?: readonly unknown[];
  default?: unknown;
}

/** The arguments that the JSON Schema of a tool names. */
export function propertiesOf(tool: Tool | undefined): Record<string, Property> {
  const properties = tool?.input_schema.properties;
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties)
    ? (properties as Record<string, Property>)
    : {};
}

const flat = ['string', 'integer', 'number', 'boolean'] as const;
export type Flat = (typeof flat)[number];

/** The type of a field for the argument; undefined: it takes JSON. */
const flatType = ({ type }: Property): Flat | undefined => flat.find((each) => each === type);

/** Whether each argument has a field of its own: the schema names all, and none holds others. */
export const isFlat = (tool: Tool | undefined, args: unknown): args is Record<string, unknown> => {
  const properties = propertiesOf(tool);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return false;
  const all = Object.values(properties);
  return (
    all.length > 0 &&
    all.every((property) => flatType(property) !== undefined) &&
    Object.keys(args).every((name) => Object.hasOwn(properties, name))
  );
};

/**
 * The value of a field. Letters in a number field stay a text: the API refuses the argument at its field.
 * @returns undefined for a field that is empty: the argument is left out
 */
function fieldValue(text: string, type: Flat): unknown {
  if (type === 'string') return text;
  if (text.trim() === '') return undefined;
  if (type === 'boolean') return text === 'true';
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

interface Props extends FormProps {
  tool: Tool | undefined;
  args: Record<string, unknown>;
  errors: readonly PointerError[];
}

/** A field for each argument of the tool's schema, with the API's mistakes at the fields. */
export function FieldsForm({ tool, args, errors, ...form }: Props) {
  const properties = propertiesOf(tool);
  const names = Object.keys(properties);
  const [texts, setTexts] = useState<Record<string, string | undefined>>(() =>
    Object.fromEntries(names.map((name) => [name, textOf(args[name])])),
  );
  const edited = Object.fromEntries(
    names.flatMap((name) => {
      const text = texts[name];
      const value = text === undefined ? undefined : fieldValue(text, flatType(properties[name] ?? {}) ?? 'string');
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const isSame = JSON.stringify(edited) === JSON.stringify(pick(args, names));
  return (
    <>
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          property={properties[name] ?? {}}
          text={texts[name]}
          mistake={
            errors.find(({ pointer }) => pointer === `/args/${name}` || pointer.startsWith(`/args/${name}/`))?.detail
          }
          onChange={(text) => setTexts((before) => ({ ...before, [name]: text }))}
        />
      ))}
      <EditFoot {...form} args={edited} whyNot={isSame ? 'Nothing is changed yet' : undefined} />
    </>
  );
}

const pick = (args: Record<string, unknown>, names: string[]) =>
  Object.fromEntries(names.flatMap((name) => (args[name] === undefined ? [] : [[name, args[name]]])));

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));

interface FieldProps {
  name: string;
  property: Property;
  text: string | undefined;
  mistake: string | undefined;
  onChange: (text: string | undefined) => void;
}

function Field({ name, property, text, mistake, onChange }: FieldProps) {
  const id = useId();
  const type = flatType(property) ?? 'string';
  const described = { id, 'aria-describedby': `${id}-hint`, 'aria-invalid': mistake === undefined ? undefined : true };
  return (
    <div className="field">
      <label htmlFor={id}>
        <code>{name}</code> <span className="muted">{type}</span>
      </label>
      <Input type={type} property={property} text={text} described={described} onChange={onChange} />
      <div id={`${id}-hint`}>
        {mistake !== undefined && (
          <p className="mistake" role="alert">
            <Text>{mistake}</Text>
          </p>
        )}
        {property.description !== undefined && (
          <p className="hint">
            <Text>{property.description}</Text>
          </p>
        )}
      </div>
    </div>
  );
}

interface InputProps extends Pick<FieldProps, 'property' | 'text' | 'onChange'> {
  type: Flat;
  described: Record<string, unknown>;
}

function Input({ type, property, text, described, onChange }: InputProps) {
  if (type === 'boolean' || property.enum !== undefined) {
    const options = property.enum?.map(String) ?? ['true', 'false'];
    return (
      <select {...described} value={text ?? ''} onChange={({ target }) => onChange(target.value || undefined)}>
        <option value="">not given</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  if (type !== 'string') {
    return (
      <input
        {...described}
        inputMode="decimal"
        value={text ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      />
    );
  }
  return (
    <textarea
      {...described}
      className="code"
      spellCheck={false}
      rows={Math.min(12, Math.max(1, (text ?? '').split('\n').length))}
      value={text ?? ''}
      onChange={({ target }) => onChange(target.value === '' && text === undefined ? undefined : target.value)}
    />
  );
}
