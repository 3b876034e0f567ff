import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuditRecord, auditRecordSchema } from '@holdpoint/contract';
import { type AuditDeps, openAuditWriter } from '../audit/audit-writer.ts';
import { auditDirOf, listSegments } from '../audit/segments.ts';

/** Seals what there is, as a writer that has just started. */
export async function sealAll(deps: AuditDeps): Promise<void> {
  const writer = await openAuditWriter(deps);
  const runs: string[] = [];
  for await (const runId of writer.unsealed('all')) runs.push(runId);
  await writer.seal(runs, new AbortController().signal);
}

/** Every record, in the order of the files. */
export async function readRecords(dataDir: string): Promise<AuditRecord[]> {
  const texts = await Promise.all(
    (await listSegments(dataDir)).map((name) => readFile(join(auditDirOf(dataDir), name), 'utf8')),
  );
  const lines = texts.flatMap((text) => text.split('\n').slice(0, -1));
  return lines.map((line) => auditRecordSchema.parse(JSON.parse(line)));
}
