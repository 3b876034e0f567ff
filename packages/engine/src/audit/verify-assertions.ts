import * as contract from '@holdpoint/contract';
import { challengeOf, whyUnproven } from '../passkeys/index.ts';
import { parseLine } from './seal-run.ts';

/** A line of the files, or of an export. */
interface Line {
  bytes: Buffer;
  file?: string | undefined;
  number?: number | undefined;
}

interface Input {
  lines: AsyncIterable<Line>;
  report: (finding: contract.AuditFinding) => void;
  /** Whether the lines begin with the first record, so that the registration of every passkey is among them. */
  isFromStart: boolean;
  signal?: AbortSignal | undefined;
}

type Decided = contract.AuditRecord & contract.AuditBodyOf<'approval'>;

/**
 * Checks every decision that a passkey proves: the signature, and the challenge against the decision of the record. A decision that needs a
 * proof and has none is a finding, too, and so is an unregistered passkey.
 */
export async function verifyAssertions({ lines, report, isFromStart, signal }: Input): Promise<void> {
  const registered = new RegisteredPasskeys();
  for await (const line of lines) {
    signal?.throwIfAborted();
    const record = recordOf(line);
    if (record === 'unreadable') {
      const message = 'a record about a passkey is sealed, and has not the shape of a record';
      report({ code: 'assertion_invalid', file: line.file, line: line.number, message });
      continue;
    }
    if (record?.kind === 'change') registered.learn(record);
    if (record?.kind !== 'approval' || record.event !== 'approval.decided') continue;
    const at = { record: record.seq, run_id: record.run_id, file: line.file, line: line.number };
    for (const proof of proofsOf(record)) {
      const reason = await whyNoProof(record, proof, isFromStart ? registered : undefined);
      if (reason === undefined) continue;
      const message = `record ${record.seq}: the decision of ${proof.by} on ${record.approval_id} is not proved: ${reason}`;
      report({ code: proof.assertion === undefined ? 'assertion_missing' : 'assertion_invalid', ...at, message });
    }
  }
}

/** Most records have nothing to do with passkeys, and are not parsed. A changed line is a finding of the chain. */
function recordOf({ bytes }: Line): contract.AuditRecord | 'unreadable' | undefined {
  if (!bytes.includes('passkey') && !bytes.includes('"assertion"')) return undefined;
  const line = parseLine(bytes);
  return line?.isSound ? (contract.auditRecordSchema.safeParse(line.record).data ?? 'unreadable') : undefined;
}

type Proof = Pick<Decided, 'assertion' | 'message_digest'> & { by: string };

/** What the record has to prove: one decision, or each vote of several. A rejection and a change of nothing need no proof. */
function proofsOf(record: Decided): Proof[] {
  const { votes, decided_by, assertion, message_digest, confirm, status } = record;
  const releases = status === 'approved' || status === 'edited' || status === 'responded';
  const own = { by: decided_by?.name ?? '', assertion, message_digest };
  const all = votes?.map(({ name, ...vote }) => ({ by: name, ...vote })) ?? [own];
  return all.filter((one) => one.assertion !== undefined || (confirm === 'passkey' && releases));
}

async function whyNoProof(
  record: Decided,
  { by, assertion, message_digest }: Proof,
  registered: RegisteredPasskeys | undefined,
): Promise<string | undefined> {
  const { tenant, approval_id, action_digest, decision, args } = record;
  if (assertion === undefined) return 'its rule asks for a passkey, and there is no assertion';
  if (action_digest === undefined || decision === undefined) return 'the record does not say what was decided';
  const edited = decision === 'edit' ? (args?.digest ?? null) : null;
  const decided = { tenant, by, approval_id, action_digest, decision, args: edited, message: message_digest ?? null };
  return (await whyUnproven(assertion, challengeOf(decided, assertion))) ?? registered?.whyUnknown(record, assertion);
}

/** The passkeys that the log says were registered, until they were revoked. */
class RegisteredPasskeys {
  private readonly known = new Map<string, { key: string; revoked: number }>();

  learn({ subject, action, detail, tenant, time }: contract.AuditRecord & contract.AuditBodyOf<'change'>): void {
    if (!subject.startsWith(contract.passkeySubject(''))) return;
    const passkey = contract.registeredPasskeySchema.safeParse(jsonOf(detail?.text ?? '')).data;
    if (passkey === undefined) return;
    const id = keyOf(tenant, passkey);
    if (action === 'registered') this.known.set(id, { key: passkey.public_key, revoked: Number.POSITIVE_INFINITY });
    const known = this.known.get(id);
    if (action === 'revoked' && known !== undefined) known.revoked = Date.parse(time);
  }

  /** A decision that was being made while the passkey was revoked counts as made before. */
  whyUnknown({ tenant, time }: Decided, assertion: NonNullable<Decided['assertion']>): string | undefined {
    const known = this.known.get(keyOf(tenant, assertion));
    if (known?.key !== assertion.public_key) return 'its passkey was never registered for this person';
    return Date.parse(time) > known.revoked + contract.challengeMs ? 'its passkey was revoked before' : undefined;
  }
}

const keyOf = (tenant: string, { person, credential_id, rp_id }: Named): string =>
  JSON.stringify([tenant, person, credential_id, rp_id]);
type Named = Pick<NonNullable<Decided['assertion']>, 'person' | 'credential_id' | 'rp_id'>;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
