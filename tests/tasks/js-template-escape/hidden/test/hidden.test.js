import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../src/index.js';

test('attributes cannot be left', () => {
  assert.equal(render('<a title="{{t}}">', { t: '" onclick="x' }), '<a title="&quot; onclick=&quot;x">');
  assert.equal(render("<a title='{{t}}'>", { t: "' x='<" }), "<a title='&#39; x=&#39;&lt;'>");
  assert.equal(render('<p>{{t}}</p>', { t: `a "b" & 'c'` }), '<p>a &quot;b&quot; &amp; &#39;c&#39;</p>');
  assert.equal(render('{{t}}', { t: '&lt;' }), '&amp;lt;');
});

test('addresses run nothing', () => {
  const link = (url) => render('<a href="{{url}}">x</a>', { url });
  assert.equal(link('https://example.org/?a=1&b=2'), '<a href="https://example.org/?a=1&amp;b=2">x</a>');
  assert.equal(link('/path:with/colon'), '<a href="/path:with/colon">x</a>');
  assert.equal(link('mailto:a@example.org'), '<a href="mailto:a@example.org">x</a>');
  for (const bad of ['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'java\tscript:x', '\u0001javascript:x', 'data:text/html,x', 'vbscript:x'])
    assert.equal(link(bad), '<a href="#">x</a>', bad);
  assert.equal(render("<img src='{{url}}'>", { url: 'javascript:x' }), "<img src='#'>");
  assert.equal(render('<a HREF = "{{url}}">', { url: 'javascript:x' }), '<a HREF = "#">');
  assert.equal(render('<a href="/x?{{q}}">', { q: 'javascript:x' }), '<a href="/x?javascript:x">');
  assert.equal(render('<p>javascript:{{a}}</p>', { a: 'javascript:b' }), '<p>javascript:javascript:b</p>');
});

test('inside a list, too', () => {
  const out = render('{{#each links}}<a href="{{url}}" title="{{t}}">{{/each}}', { links: [{ url: 'javascript:x', t: '"' }, { url: '/ok', t: '' }] });
  assert.equal(out, '<a href="#" title="&quot;"><a href="/ok" title="">');
});

test('zero and false are values, and prototypes are none', () => {
  assert.equal(render('{{a}}{{b}}{{c}}{{d}}', { a: 0, b: false, c: null, d: undefined }), '0false');
  assert.equal(render('{{constructor}}{{toString}}', {}), '');
  assert.equal(render('{{{html}}}', { html: '"' }), '"');
  assert.equal(render('{{#each list}}{{this}}{{/each}}', { list: [0, null, ''] }), '0');
});
