/**
 * Most pages of all PDF files of a request, by provider; each reads a page as its text and an image. The bytes of a request are bounded below
 * the sizes of all of them (`mostRequestBytes`).
 * - Anthropic: 600 pages, 100 for models with a window of 200,000 tokens, and 32 MB for a request
 *   (https://platform.claude.com/docs/en/build-with-claude/pdf-support)
 * - OpenAI: PDF files in both formats, for models with vision from gpt-4o on (https://developers.openai.com/api/docs/guides/file-inputs). The
 *   page names no bound of pages any more; 100 pages and 32 MB were its bounds before
 * - Google: 1,000 pages, and 20 MB for a request with its files inline (https://ai.google.dev/gemini-api/docs/document-processing)
 * - other servers with Chat Completions: OpenRouter gives the file to a model that reads it, and else its text, without a bound of pages
 *   (https://openrouter.ai/docs/guides/overview/multimodal/pdfs)
 */
const bounds: Record<string, number> = { anthropic: 100, openai: 100, 'openai-chat': 100, google: 1000 };
const others = 100;

/** @param model `provider/model` */
export const mostPdfPages = (model: string): number => bounds[model.slice(0, model.indexOf('/'))] ?? others;
