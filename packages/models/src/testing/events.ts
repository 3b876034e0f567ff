/** The stream that a provider sends instead of this whole answer, with every text in pieces of a few characters. */
export function eventsOf(model: string, whole: unknown): string[] {
  const format = model.slice(0, model.indexOf('/'));
  if (format === 'anthropic') return anthropic(whole as Anthropic);
  if (format === 'google') return google(whole as Google);
  if (format === 'openai') return responses(whole as Responses);
  return chat(whole as Chat);
}

export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** @returns at least one piece */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,7}/gu) ?? [''];

interface Chat {
  choices: { message: Record<string, unknown> & { tool_calls?: ChatCall[] | null }; finish_reason: string }[];
  usage?: unknown;
}
interface ChatCall {
  id: string | null;
  function: { name: string; arguments: string };
}

function chat({ choices: [choice], usage, ...base }: Chat): string[] {
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    event({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  const { tool_calls, role: _role, ...texts } = choice?.message ?? {};
  const said = Object.entries(texts).flatMap(([field, text]) =>
    typeof text === 'string' && text !== '' ? pieces(text).map((piece) => chunk({ [field]: piece })) : [],
  );
  const details = texts.reasoning_details;
  const blocks = Array.isArray(details) ? details.map((one) => chunk({ reasoning_details: [one] })) : [];
  const calls = (tool_calls ?? []).flatMap(({ id, function: { name, arguments: args }, ...more }, index) => [
    chunk({ tool_calls: [{ ...more, index, id, function: { name, arguments: '' } }] }),
    ...pieces(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  const end = [chunk({}, choice?.finish_reason), event({ ...base, choices: [], usage }), event('[DONE]')];
  return [chunk({ role: 'assistant' }), ...blocks, ...said, ...calls, ...end];
}

type Block = { type: string; text?: string; thinking?: string; signature?: string; input?: unknown };
interface Anthropic {
  content: Block[];
  stop_reason: string;
  usage: Record<string, unknown>;
}

function anthropic({ content, stop_reason, usage, ...message }: Anthropic): string[] {
  const named = (data: { type: string; [field: string]: unknown }) => event(data, data.type);
  const started = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const blocks = content.flatMap((block, index) => {
    const delta = (of: { type: string; [field: string]: unknown }) =>
      named({ type: 'content_block_delta', index, delta: of });
    const { signature } = block;
    const deltas = [
      ...(block.text === undefined ? [] : pieces(block.text).map((text) => delta({ type: 'text_delta', text }))),
      ...(block.thinking === undefined
        ? []
        : pieces(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking }))),
      ...(signature === undefined ? [] : [delta({ type: 'signature_delta', signature })]),
      ...(block.input === undefined
        ? []
        : pieces(JSON.stringify(block.input)).map((partial_json) => delta({ type: 'input_json_delta', partial_json }))),
    ];
    const empty = Object.fromEntries(
      Object.entries(block).flatMap(([field, value]) => {
        if (field === 'input') return [[field, {}]];
        return [[field, ['text', 'thinking', 'signature'].includes(field) ? '' : value]];
      }),
    );
    return [
      named({ type: 'content_block_start', index, content_block: empty }),
      ...deltas,
      named({ type: 'content_block_stop', index }),
    ];
  });
  return [
    named({ type: 'message_start', message: started }),
    named({ type: 'ping' }),
    ...blocks,
    named({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }),
    named({ type: 'message_stop' }),
  ];
}

type GooglePart = { text?: string; thoughtSignature?: string };
interface Google {
  candidates: { content?: { parts: GooglePart[] }; finishReason: string }[];
}

function google({ candidates: [candidate], ...base }: Google): string[] {
  const { content, finishReason, ...rest } = candidate ?? { finishReason: 'STOP' };
  const chunk = (parts: unknown[]) => event({ candidates: [{ content: { role: 'model', parts }, index: 0 }] });
  const chunks = (content?.parts ?? []).flatMap((part) => {
    if (part.text === undefined || part.text === '') return [chunk([part])];
    const { text, thoughtSignature, ...more } = part;
    const texts = pieces(text);
    // The signature comes with the last piece.
    return texts.map((piece, index) =>
      chunk([{ ...more, text: piece, ...(index === texts.length - 1 && { thoughtSignature }) }]),
    );
  });
  return [...chunks, event({ ...base, candidates: [{ ...rest, finishReason }] })];
}

type Item = Record<string, unknown> & {
  type: string;
  id: string;
  arguments?: string;
  content?: { type: string; text: string }[];
  summary?: { type: string; text: string }[];
};
interface Responses {
  output: Item[];
  status: string;
}

function responses({ output, ...response }: Responses): string[] {
  let sequence_number = 0;
  const named = (data: { type: string; [field: string]: unknown }) =>
    event({ ...data, sequence_number: sequence_number++ }, data.type);
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  const items = output.flatMap((item, output_index) => {
    const at = { item_id: item.id, output_index };
    const begun = {
      ...{ ...item, status: 'in_progress' },
      ...(item.arguments !== undefined && { arguments: '' }),
      ...(item.content !== undefined && { content: [] }),
      ...(item.summary !== undefined && { summary: [], encrypted_content: null }),
    };
    const texts = (item.content ?? []).flatMap(({ text }, content_index) =>
      pieces(text).map((delta) => named({ type: 'response.output_text.delta', ...at, content_index, delta })),
    );
    const summary = (item.summary ?? []).flatMap(({ text, type }, summary_index) => {
      const of = { ...at, summary_index };
      return [
        named({ type: 'response.reasoning_summary_part.added', ...of, part: { type, text: '' } }),
        ...pieces(text).map((delta) => named({ type: 'response.reasoning_summary_text.delta', ...of, delta })),
        named({ type: 'response.reasoning_summary_part.done', ...of, part: { type, text } }),
      ];
    });
    const args = item.arguments === undefined ? [] : pieces(item.arguments);
    return [
      named({ type: 'response.output_item.added', output_index, item: begun }),
      ...summary,
      ...texts,
      ...args.map((delta) => named({ type: 'response.function_call_arguments.delta', ...at, delta })),
      named({ type: 'response.output_item.done', output_index, item }),
    ];
  });
  const end = response.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [
    named({ type: 'response.created', response: started }),
    named({ type: 'response.in_progress', response: started }),
    ...items,
    named({ type: end, response: { ...response, output } }),
  ];
}
