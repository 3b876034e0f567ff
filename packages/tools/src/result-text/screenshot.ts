import { imageLine, keptImageSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { oneLine } from './shown-text.ts';

const screenshot = z.object({
  image: keptImageSchema,
  url: z.string(),
  status: z.int().optional(),
  title: z.string(),
  loaded: z.boolean(),
  cut: z.int().optional(),
  console: z.array(z.string()),
});

export const renderScreenshot = renderValue(screenshot, ({ image, url, status, title, loaded, cut, console }) => {
  const facts = [
    imageLine(image),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(loaded ? [] : ['the page had not loaded']),
    ...(cut === undefined ? [] : [`the page is ${cut} px high`]),
  ];
  const lines = [`${oneLine(url)} ${oneLine(title)}`.trimEnd(), ...console.map(oneLine)];
  return { head: facts.join(', '), body: lines.join('\n'), images: [image] };
});
