import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import { ToolsError } from '../errors.ts';
import type { ResultText } from '../result-text/result-text.ts';
import { TextWorkError } from '../text-work/text-work.ts';
import type { LookContext, RunFacts, Tool, ToolContext } from '../tool.ts';
import { definition, type OfferedTool, offeredTool, type ToolDefinition } from '../tool-definition.ts';
import type { Advisory, Caution, OfferedRun, Toolset } from '../toolset.ts';
import { answerQuestion } from './answer-question.ts';
import { checkOutput, type DefectLog, noLog, onlyOnce } from './check-output.ts';
import { type ArgumentIssue, checkSettings, filledSettings } from './check-settings.ts';
import { fillPlaceholders } from './fill-placeholders.ts';
import { findTool, indexToolsets, type ToolCall, unknownToolset } from './find-tool.ts';
import { offeredOf } from './offered-of.ts';
import { presentCall } from './present-call.ts';
import { type OutcomeText, outcomeText, type PresentedCall, renderCall, rendersText } from './render-call.ts';
import { renderDefinitions } from './render-definitions.ts';
import { runBeside } from './run-beside.ts';
import { rulesOf } from './toolset-rules.ts';

export interface Registry {
  /** Names of the toolsets, in the order they were given. */
  toolsets(): string[];
  /** Whether placeholders in arguments stand for secrets. */
  fillsPlaceholders(toolset: string): boolean;
  /**
   * @param run.unattended leaves out tools with a question to a person
   * @param run.network false leaves out tools that need one. @default true
   * @param run.model leaves out tools that the toolset does not offer to this model
   * @throws ToolsError `EUNKNOWNTOOLSET`
   */
  list(toolset: string, run?: { unattended?: boolean; network?: boolean } & Partial<OfferedRun>): ToolDefinition[];
  /** The tools of `list`, as a request to the model of a run has them. @throws ToolsError `EUNKNOWNTOOLSET` */
  offer(toolset: string, run: Parameters<Registry['list']>[1]): OfferedTool[];
  /** The tools in the form of a provider or an MCP client. @throws ToolsError `EUNKNOWNTOOLSET`, `EUNKNOWNFORM` */
  inForm(toolset: string, form: string): readonly contract.Json[];
  /** The version of each tool: 12 hex digits of a hash of its interface. @throws ToolsError `EUNKNOWNTOOLSET` */
  versions(toolset: string): Record<string, string>;
  /** The toolset's rules for its own calls, under the settings and modes of a run. The same object for the same rules. */
  rules(toolset: string, settings: unknown, modes?: contract.Modes): contract.ToolsetRules;
  /** Returns mistakes of a model as data: `EUNKNOWNTOOLSET`, `EUNKNOWNTOOL`, `EINVALIDARGS`. */
  describe(call: ToolCall & Partial<RunFacts>): contract.CallDescription;
  /**
   * Runs a call. Validates the arguments again, because a decision may have edited them. Errors of use to the planner become an outcome,
   * including a `FileError` of the sandbox. An aborted call is `killed`. `beside`: the call defers on its background command, and settles at
   * the end of the command.
   * @throws every other error, for example a `SandboxError`: the infrastructure failed, and the queue retries
   */
  execute(call: ToolCall & { context: ToolContext; beside?: true | undefined }): Promise<contract.ToolOutcome>;
  /** The result of a settled call by the contract of its toolset. Never throws. */
  present(toolset: string, call: contract.SettledCall): contract.Json;
  /** The text of a settled call for a model; undefined where the contract of the toolset has a form of its own. Never throws. */
  render(toolset: string, call: PresentedCall): ResultText | undefined;
  /** The content of an outcome for a model, before the outcome is recorded; undefined as for `render`. Never throws. */
  outcomeText(
    toolset: string,
    made: { tool: string; outcome: Exclude<contract.ToolOutcome, { status: 'deferred' }> },
  ): OutcomeText | undefined;
  /** Most bytes of a result of the tool for a model, in the words of its author. */
  resultBytes(toolset: string, tool: string): number | undefined;
  /** Whether a model reads the results of the toolset as text. */
  rendersText(toolset: string): boolean;
  /** The settings with all defaults, or the mistakes in the settings. @throws ToolsError `EUNKNOWNTOOLSET` */
  checkSettings(
    toolset: string,
    settings: contract.Settings,
  ): { ok: true; settings: contract.Settings } | { ok: false; errors: ArgumentIssue[] };
  /** Permissions of a run without permissions of its own, protected paths in addition to the run's paths, and tools that run a shell. */
  grants(toolset: string): { permissions?: readonly string[]; protected: readonly string[]; shells: readonly string[] };
  /** The value made from a person's answer to a question. */
  answer(call: ToolCall, words: string): { value: contract.Json } | { error: contract.Problem };
  /** Text for a model before its prompt. @param has whether the run has a tool of the toolset. @default it has all */
  instructions(toolset: string, has?: (tool: string) => boolean): string | undefined;
  /** Whether each call of the tool has a whole list in its arguments: the last call is enough. */
  keepsList(toolset: string, tool: string): boolean;
  /** The tool to begin sub-agents by kind, if any. */
  kindTool(toolset: string): string | undefined;
  /** The tools that wait for background tasks and end tasks, if any. */
  taskTools(toolset: string): { waits?: string | undefined; ends?: string | undefined };
  /** The arguments of a tool that a remembered decision leaves out, by their kind. */
  advisory(toolset: string, tool: string): Advisory;
  /** The cautions of the toolset's contract. The same list each time. */
  cautions(toolset: string): readonly Caution[];
  /** Why a person has to be asked before a call; null when the tool has no question. Changes nothing. */
  asks(call: ToolCall & { context: LookContext }): Promise<string | null>;
  /** Rules of the network for the call alone; undefined when the tool has none. */
  reaches(call: ToolCall & { settings: unknown }): readonly string[] | undefined;
  /** Secrets of the operator for the requests of the tool's calls. */
  sends(toolset: string, tool: string): readonly contract.SecretUse[];
  /** The text for a person's decision, in the words of the contract; null without a text. Any text: the content may be hostile. */
  approvalText(call: ToolCall): string | null;
  /** The preview for a person's decision; null when the tool shows only its arguments. Changes nothing. */
  preview(call: ToolCall & { context: ToolContext }): Promise<contract.Preview | null>;
}

/** @throws ToolsError `EINVALIDTOOL` when two toolsets have the same name */
export function createRegistry(toolsets: readonly Toolset[], options: { log?: DefectLog } = {}): Registry {
  const byName = indexToolsets(toolsets);
  const log = onlyOnce(options.log ?? noLog);
  const named = (toolset: string) => toolsets.find(({ name }) => name === toolset);
  const known = (name: string): Toolset => {
    const toolset = named(name);
    if (toolset !== undefined) return toolset;
    const { message, next = '' } = unknownToolset(name, byName);
    throw new ToolsError('EUNKNOWNTOOLSET', message, next);
  };
  /** The context with the settings as the toolset's schema reads them. */
  const withSettings = <Context extends { settings: unknown }>(toolset: string, context: Context): Context => {
    const { settings } = named(toolset) ?? {};
    return settings === undefined
      ? context
      : { ...context, settings: filledSettings(known(toolset), context.settings as contract.Json) };
  };
  const fillsPlaceholders = (toolset: string) =>
    toolsets.some(({ name, placeholders = false }) => name === toolset && placeholders);
  const versions = new Map<string, Record<string, string>>();
  const toolsOf = (toolset: string): readonly Tool[] => known(toolset).tools;
  return {
    toolsets: () => [...byName.keys()],
    fillsPlaceholders,

    list: (toolset, run) => offeredOf(known(toolset), run).map(definition),
    offer: (toolset, run) => offeredOf(known(toolset), run).map(offeredTool),

    inForm(toolset, form) {
      const definitions = toolsOf(toolset).map(definition);
      return renderDefinitions(toolsets.find(({ name }) => name === toolset) ?? { name: toolset }, form, definitions);
    },

    versions(toolset) {
      const known =
        versions.get(toolset) ?? Object.fromEntries(toolsOf(toolset).map((tool) => [tool.name, versionOf(tool)]));
      versions.set(toolset, known);
      return known;
    },

    rules: rulesOf(toolsets),

    describe(call) {
      const found = findTool(byName, call);
      if (!found.ok) return found;
      const { tool, args } = found;
      if (tool.gate !== undefined && call.unattended) return { ok: false, error: noPersonError(tool), issues: [] };
      const effect =
        typeof tool.effect === 'function'
          ? tool.effect(args, { network: call.network ?? false, settings: call.settings })
          : tool.effect;
      const touches = contract.touchesSchema.parse(tool.touches?.(args) ?? {});
      const { risk, gate, sequential } = tool;
      const looks = typeof tool.asks === 'function' || undefined;
      const reaches = tool.reaches && true;
      // A task keeps its command in the log, and has the network of the run.
      const beside = (tool.beside && !reaches && !fillsPlaceholders(call.toolset)) || undefined;
      return { ok: true, args: args as contract.Json, effect, risk, gate, sequential, touches, beside, looks, reaches };
    },

    async execute(call) {
      const found = findTool(byName, call);
      if (!found.ok) return { status: 'failed', error: found.error, touched: [] };
      const { placeholder } = call.context;
      const filled =
        placeholder !== undefined && fillsPlaceholders(call.toolset)
          ? fillPlaceholders(found.args, placeholder)
          : ({ ok: true, args: found.args } as const);
      if (!filled.ok) return { status: 'failed', error: filled.error, touched: [] };
      try {
        const { tool } = found;
        const context = withSettings(call.toolset, call.context);
        const args = tool.fillsPlaceholders ? found.args : filled.args;
        const outcome =
          call.beside && tool.beside ? await runBeside(tool.beside, context, args) : await tool.execute(context, args);
        return checkOutput(tool, outcome, { toolset: call.toolset, log });
      } catch (error) {
        if (call.context.signal.aborted) return killed(call);
        if (isData(error)) return { status: 'failed', error: asData(error) };
        throw error;
      }
    },

    approvalText(call) {
      const found = findTool(byName, call);
      const text = named(call.toolset)?.approvalText;
      if (!found.ok || text === undefined) return null;
      const { tool, args } = found;
      const { paths = [] } = tool.touches?.(args) ?? {};
      const files = paths.flatMap(({ path, access, written }) => (access === 'read' ? [] : [written ?? path]));
      return text({ tool: tool.name, args: call.args as contract.Json, label: tool.label ?? tool.risk, files });
    },

    present: (toolset, call) => presentCall(named(toolset), call, log),
    render: (toolset, call) => renderCall(named(toolset), call, log),
    outcomeText: (toolset, made) => outcomeText(named(toolset), made, log),
    resultBytes: (toolset, tool) => named(toolset)?.tools.find(({ name }) => name === tool)?.resultBytes,
    rendersText: (toolset) => rendersText(named(toolset)),
    checkSettings: (toolset, settings) => checkSettings(known(toolset), settings),
    grants(toolset) {
      const { permissions, protected: paths = [], tools } = known(toolset);
      return { permissions, protected: paths, shells: tools.filter(({ shell }) => shell).map(({ name }) => name) };
    },
    instructions(toolset, may = () => true) {
      const { instructions, tools } = named(toolset) ?? {};
      if (typeof instructions !== 'function') return instructions;
      const names = new Set(tools?.map(({ name }) => name));
      return instructions((tool) => names.has(tool) && may(tool));
    },
    kindTool: (toolset) => named(toolset)?.tools.find(({ takesKind }) => takesKind)?.name,
    taskTools(toolset) {
      const find = (does: Tool['onTask']) => named(toolset)?.tools.find(({ onTask }) => onTask === does)?.name;
      return { waits: find('waits'), ends: find('ends') };
    },
    keepsList: (toolset, tool) =>
      named(toolset)?.tools.some(({ name, keepsList }) => name === tool && keepsList) ?? false,
    advisory(toolset, tool) {
      const { advisory = {} } = named(toolset) ?? {};
      return (Object.hasOwn(advisory, tool) ? advisory[tool] : undefined) ?? noAdvisory;
    },
    cautions: (toolset) => named(toolset)?.cautions ?? noCautions,

    answer(call, words) {
      const found = findTool(byName, call);
      if (!found.ok) return { error: found.error };
      return answerQuestion(found.tool, { args: found.args, words }, { toolset: call.toolset, log });
    },

    async asks(call) {
      const found = findTool(byName, call);
      if (!found.ok) return null;
      try {
        const { asks } = found.tool;
        if (typeof asks !== 'function') return null;
        return (await asks(withSettings(call.toolset, call.context), found.args)) ?? null;
      } catch (error) {
        // The call would fail with the same error.
        if (isData(error)) return null;
        throw error;
      }
    },

    reaches(call) {
      const found = findTool(byName, call);
      return found.ok ? found.tool.reaches?.(found.args, call.settings) : undefined;
    },

    sends: (toolset, tool) => named(toolset)?.tools.find(({ name }) => name === tool)?.sends ?? [],

    async preview(call) {
      const found = findTool(byName, call);
      if (!found.ok) return { kind: 'problem', message: found.error.message };
      try {
        return (await found.tool.preview?.(withSettings(call.toolset, call.context), found.args)) ?? null;
      } catch (error) {
        if (isData(error)) return { kind: 'problem', message: error.message };
        throw error;
      }
    },
  };
}

const noAdvisory: Advisory = {};
const noCautions: readonly Caution[] = [];

/** A run depends on the arguments, the effect, the output, the major version and the pin of a tool. Its description may change without a new version. */
function versionOf(tool: Tool): string {
  const { name, input_schema, effect, gate, output_schema, version } = definition(tool);
  // The digest of a tool without them is as before there were any.
  const major = version === undefined ? [] : [version.split('.')[0]];
  const output = output_schema === undefined ? [] : [{ output_schema }];
  const pin = tool.pin === undefined ? [] : [{ pin: tool.pin }];
  return createHash('sha256')
    .update(JSON.stringify([name, input_schema, effect, gate ?? null, ...major, ...output, ...pin]))
    .digest('hex')
    .slice(0, 12);
}

const noPersonError = (tool: Tool): contract.Problem => ({
  code: 'ENOPERSON',
  message: `${tool.name} cannot be used here: a sub-agent cannot ask a person.`,
  next: 'Decide it yourself, or say in your last message what has to be decided.',
});

function isData(error: unknown): error is contract.FileError | TextWorkError {
  return error instanceof contract.FileError || error instanceof TextWorkError;
}

function asData({ code, message, next }: contract.FileError | TextWorkError): contract.Problem {
  return { code, message, next };
}

function killed({ tool }: ToolCall): contract.ToolOutcome {
  return { status: 'killed', error: { code: 'EKILLED', message: `${tool} was stopped before it finished.` } };
}
