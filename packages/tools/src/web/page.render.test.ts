import { describe, expect, it } from 'vitest';
import { renderPage } from './render-page.ts';

const url = 'https://example.com/docs/page.html';

const convert = (html: string, format: 'markdown' | 'text' = 'markdown') => renderPage({ html, url }, format);
const markdown = (html: string) => convert(html).content;

describe('renderPage: inline text', () => {
  it.each([
    ['collapses white space', '<p>\n  a \t b\n</p>', 'a b'],
    ['joins text that only tags separate', 'a<span>b</span><!-- c -->c', 'abc'],
    ['keeps blanks outside marks', 'a<b> b </b>c<i>d</i>', 'a **b** c*d*'],
    ['leaves empty marks out', 'a<b> </b>c<i></i>', 'a c'],
    ['leaves out marks around blocks', '<b><p>a</p><p>b</p></b>', 'a\n\nb'],
    ['marks nested strong text once', '<b>a<strong>b</strong></b>', '**ab**'],
    ['decodes entities', '&lt;p&gt; &amp; &eacute;&#x1F600;&nbsp;&copy', '<p> & é😀 ©'],
    ['escapes characters of marks', 'a * b _c_ [d] `e` \\', 'a \\* b \\_c\\_ \\[d\\] \\`e\\` \\\\'],
    ['leaves names as they are', 'snake_case_name a<1 b&c', 'snake_case_name a<1 b&c'],
    [
      'escapes characters that begin a block',
      '<p># a<p>- b<p>1. c<p>> d<p>---',
      '\\# a\n\n\\- b\n\n1\\. c\n\n\\> d\n\n\\---',
    ],
    ['breaks lines', 'a<br>b<br/>', 'a  \nb'],
    ['writes two breaks', 'a<br><br>b', 'a  \n  \nb'],
    ['keeps powers apart', '10<sup>6</sup> H<sub>2</sub>O', '10<sup>6</sup> H<sub>2</sub>O'],
    ['fences code with backticks', '<code>a`b</code> <code>`</code> <code>x  *y*</code>', '``a`b`` `` ` `` `x *y*`'],
    ['quotes', '<q>a</q>', '"a"'],
    ['drops soft hyphens', 'Donau&shy;dampf\u200bschiff', 'Donaudampfschiff'],
  ])('%s', (_name, html, expected) => expect(markdown(html)).toBe(expected));
});

describe('renderPage: blocks', () => {
  it.each([
    ['headings', '<h1>a</h1><h3><div>b</div> <i>c</i></h3><p>d', '# a\n\n### b *c*\n\nd'],
    ['a heading around code', '<h2>a<pre>b</pre>c</h2>', '## a `b` c'],
    ['a heading that begins with a number', '<h2>1. Start</h2>', '## 1\\. Start'],
    ['a heading without its own link', '<h2>a <a href="#a">¶</a></h2>', '## a'],
    ['paragraphs without end tags', '<p>a<p>b<div>c</div>d', 'a\n\nb\n\nc\n\nd'],
    ['lists', '<ul><li>a<li>b<ol><li>c<li>d</ol></ul>e', '-   a\n-   b\n    1.  c\n    2.  d\n\ne'],
    [
      'a list that starts elsewhere',
      '<ol start="9"><li>a</li><li><p>b</p><p>c</p></li></ol>',
      '9.  a\n10.  b\n     \n     c',
    ],
    [
      'tasks',
      '<ul><li><input type="checkbox" checked> a<li><label><input type=checkbox>b</label></ul>',
      '-   [x] a\n-   [ ] b',
    ],
    ['quotations', '<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d', '> a\n> \n> b\n> \n> -   c\n\nd'],
    ['terms', '<dl><dt>a<dd>b<dd>c</dl>', '**a**\n\nb\n\nc'],
    ['a rule', 'a<hr>b', 'a\n\n---\n\nb'],
    ['details', '<details><summary>a</summary>b</details>', '**a**\n\nb'],
  ])('writes %s', (_name, html, expected) => expect(markdown(html)).toBe(expected));

  it.each([
    [
      'with its language',
      '<pre><code class="hljs language-ts">a &lt; 1;\n\n  <b>b</b>\n</code></pre>',
      '```ts\na < 1;\n\n  b\n```',
    ],
    ['whose language stands around it', '<div class="highlight-source-js"><pre>x</pre></div>', '```js\nx\n```'],
    ['with a fence of its own', '<pre>```\na\n```</pre>', '````\n```\na\n```\n````'],
    ['of one line per br', '<pre>\na<br>  b</pre>', '```\na\n  b\n```'],
    ['within a list', '<ul><li>a<pre>b\nc</pre></ul>', '-   a\n    \n    ```\n    b\n    c\n    ```'],
  ])('writes code %s', (_name, html, expected) => expect(markdown(html)).toBe(expected));
});

describe('renderPage: tables', () => {
  const head = '| a | b |\n| --- | --- |\n';

  it.each([
    [
      'with a head',
      '<table><caption>c</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table>',
      `c\n\n${head}| 1 | 2 |`,
    ],
    [
      'whose first row is its head',
      '<table><tr><th>a</th><th>b</th></tr><tr><th>1</th><td>2</td></tr></table>',
      `${head}| 1 | 2 |`,
    ],
    ['without a head', '<table><tr><td>a<td>b<tr><td>c</table>', '|     |     |\n| --- | --- |\n| a | b |\n| c |  |'],
    [
      'with blocks and bars in its cells',
      '<table><tr><th>a<th>b<tr><td>x|y||z<td><p>1<p>2<ul><li>3</ul></table>',
      `${head}| x\\|y\\|\\|z | 1<br>2<br>• 3 |`,
    ],
    [
      'with cells that span',
      '<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3<tr><td colspan=2>4</table>',
      `${head}| 1 | 2 |\n|  | 3 |\n| 4 |  |`,
    ],
  ])('writes a table %s', (_name, html, expected) => expect(markdown(html)).toBe(expected));

  it('writes a long table whole', () => {
    const rows = Array.from({ length: 1500 }, (_, index) => `<tr><td>${index}<td>x`).join('');
    const page = convert(`<table><tr><th>a<th>b${rows}</table>`);
    expect(page.complete).toBe(true);
    expect(page.content.split('\n')).toHaveLength(1502);
    expect(page.content).toMatch(/\| 1499 \| x \|$/);
  });

  it.each([
    ['holds a table', '<table><tr><td><table><tr><td>a</td></tr></table></td><td>b</td></tr></table>', 'a\n\nb'],
    ['holds code', '<table><tr><td>1<td><pre>x</pre></table>', '1\n\n```\nx\n```'],
    ['says so', '<table role="presentation"><tr><td>a<td>b</table>', 'a\n\nb'],
    [
      'is wider than any that people read',
      `<table><tr>${'<td>a'.repeat(101)}</table>`,
      Array(101).fill('a').join('\n\n'),
    ],
    ['has one column', '<table><tr><td>a<tr><td>b</table>', 'a\n\nb'],
  ])('writes the cells one after the other when a table %s', (_name, html, expected) =>
    expect(markdown(html)).toBe(expected),
  );
});

describe('renderPage: links', () => {
  it('makes addresses absolute', () => {
    const page = convert(
      '<a href="../a?x=1&amp;y=2">A <b>b</b></a> <a href="//cdn.test/c">c</a> <a href="/a?x=1&amp;y=2">again</a>',
    );
    expect(page.content).toBe(
      '[A **b**](https://example.com/a?x=1&y=2) [c](https://cdn.test/c) [again](https://example.com/a?x=1&y=2)',
    );
  });

  it('resolves against the base of the document, unless its scheme is refused', () => {
    expect(markdown('<base href="/other/"><a href="a">a</a>')).toBe('[a](https://example.com/other/a)');
    expect(markdown('<base href="javascript:x"><a href="a">a</a>')).toBe('[a](https://example.com/docs/a)');
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java&#115;cript:alert(1)',
    'java&#10;script:alert(1)',
    ' &#1;javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.com/x',
    '#part',
    'http://[',
    `/${'x'.repeat(3000)}`,
  ])('keeps only the text of a link to %s', (href) =>
    expect(convert(`<a href="${href}">text</a>`)).toMatchObject({ content: 'text' }),
  );

  it('drops an address that only its base makes too long', () => {
    const base = `/${'x'.repeat(1500)}/`;
    expect(markdown(`<base href="${base}"><a href="${'y'.repeat(1500)}">text</a> <a href="z">z</a>`)).toBe(
      `text [z](https://example.com${base}z)`,
    );
  });

  it('puts a link around blocks into the first block with text', () =>
    expect(markdown('<a href="/c"><h3>a</h3><p>b</p></a>')).toBe('### [a](https://example.com/c)\n\nb'));

  it('drops a link without text, and escapes parentheses in addresses', () =>
    expect(markdown('<a href="/x"></a><a href="/w_(x)">w</a>')).toBe('[w](https://example.com/w_\\(x\\))'));

  it('writes images with alternative text', () => {
    expect(markdown('<img src="i.png" alt="A [b]"> <img src="j.png" alt=""> <img src="k.png">')).toBe(
      '![A \\[b\\]](https://example.com/docs/i.png)',
    );
    expect(markdown('<img src="data:image/png;base64,AAAA" alt="chart">')).toBe('chart');
    expect(markdown('<img src="data:image/gif;base64,AA" data-src="/real.png" alt="photo">')).toBe(
      '![photo](https://example.com/real.png)',
    );
  });
});

describe('renderPage: what is left out', () => {
  it.each([
    ['scripts', '<script>if (a < b) "</p>"</script>'],
    ['a script in a comment', '<!-- <script>x</script> > -->'],
    ['styles', '<style>p > a { }</style>'],
    ['templates', '<template><p>x</template>'],
    ['drawings', '<svg><title>x</title><text>y</text><path/></svg>'],
    ['frames', '<iframe src="/x">x</iframe>'],
    ['fields', '<select><option>x<option>y</select><textarea>x</textarea><input value="x">'],
    ['hidden elements', '<p hidden>x</p>'],
    ['elements hidden by style', '<div style="color: red; DISPLAY : none">x<p>y</p></div>'],
    ['invisible elements', '<p style="visibility:hidden">x</p>'],
    ['elements hidden from readers', '<p aria-hidden="true">x</p>'],
    ['closed dialogs', '<dialog>x</dialog>'],
    ['navigation', '<nav><ul><li><a href="/">x</a></ul></nav>'],
    ['navigation by role', '<div role="navigation">x</div>'],
    ['the header of the page', '<header><a href="/">x</a></header>'],
    ['the footer of the page', '<footer>x</footer>'],
    ['comments that end in unexpected places', '<!--> a --><!-- x --!> y -->'],
    ['processing instructions', '<?xml version="1.0"?><!DOCTYPE html [x]>'],
  ])('leaves out %s', (name, html) => {
    const expected = name.startsWith('comments') ? 'a -->\n\ntext' : 'text';
    expect(markdown(`${html}<p>text</p>`)).toBe(expected);
  });

  it('keeps similar content', () => {
    expect(markdown('<body style="display:none"><article><header>a</header><footer>b</footer></article>')).toBe(
      'a\n\nb',
    );
    expect(markdown('<header><h1>Title</h1></header><p hidden="until-found">x</p><dialog open>y</dialog>')).toBe(
      '# Title\n\nx\n\ny',
    );
    expect(markdown('<noscript>a</noscript><p style="display:block">b')).toBe('a\n\nb');
  });

  it('renders the main part when it has enough text', () => {
    const long = 'word '.repeat(60).trim();
    expect(markdown(`<div>around</div><main>${long}</main><div>after</div>`)).toBe(long);
    expect(markdown(`<div>around</div><main id="skip"></main><p>${long}</p>`)).toBe(`around\n\n${long}`);
    expect(markdown(`<div>around</div><main hidden>${long}</main>`)).toBe('around');
  });

  it('renders a page of nothing but navigation', () =>
    expect(markdown('<nav><a href="/a">a</a></nav>')).toBe('[a](https://example.com/a)'));
});

describe('renderPage: the title', () => {
  it.each([
    ['the title', '<head><title> A &amp;\n<b> </title><h1>x</h1>', 'A & <b>'],
    ['what the page is shared as', '<meta property="og:title" content="A"><h1>x</h1>', 'A'],
    ['the first headline', '<h1>A <i>b</i></h1>', 'A b'],
    ['nothing', '<p>x', undefined],
    ['the page title, not the title of a drawing', '<svg><title>x</title></svg><title>A</title>', 'A'],
  ])('takes %s', (_name, html, title) => expect(convert(html).title).toBe(title));
});

describe('renderPage: as text', () => {
  it('writes no marks and escapes nothing', () => {
    const page = convert(
      '<h1>a_b</h1><p><b>b</b> * <a href="/x">c</a> <code>d`</code> 2<sup>3</sup><img src=i alt=e><ul><li>f</ul><pre>g\n h</pre><table><tr><th>i<th>j<tr><td>k<td>l|</table>',
      'text',
    );
    expect(page.content).toBe('a_b\n\nb * c d` 2^3e\n\n- f\n\ng\n h\n\ni\tj\nk\tl|');
  });

  it('numbers items, keeps code as it is and leaves navigation out', () => {
    const html =
      '<title>T</title><nav>x</nav><h1>a_b</h1><ol start=3><li>b<li><a href="/c">c</a></ol><pre>d\n  e</pre><p>f<br>g';
    expect(convert(html, 'text')).toEqual({
      title: 'T',
      content: 'a_b\n\n3. b\n4. c\n\nd\n  e\n\nf\ng',
      complete: true,
    });
  });
});

describe('renderPage: broken HTML', () => {
  it.each([
    ['an empty document', '', ''],
    ['a lone bracket', 'a < b > c <', 'a < b > c <'],
    ['a tag that never ends', 'a<p class="x', 'a'],
    ['a comment that never ends', 'a<!-- b', 'a'],
    ['a script that never ends', 'a<script>b</scrip>', 'a'],
    ['a title that never ends', 'a<title>b', 'ab'],
    ['end tags of nothing', '</p></div>a</td></b>', 'a'],
    ['marks that cross', '<b>a<i>b</b>c</i>', '**a*b***c'],
    [
      'a stray end tag that would end a table',
      '<table><tr><td>a</div></p><td>b</table>',
      '|     |     |\n| --- | --- |\n| a | b |',
    ],
    [
      'attributes without quotes or values',
      '<a x=\'1\' = "y" href=/a/b/ href=/c ">t</a>',
      '[t](https://example.com/a/b/)',
    ],
    ['names in capitals', '<P>a<BR>b<SCRIPT>c</SCRIPT >', 'a  \nb'],
    ['unknown elements', '<my-box>a<o:p>b</o:p></my-box>', 'ab'],
    ['NUL', 'a\0b', 'ab'],
    ['names of object properties', '<constructor>a<hasownproperty __proto__=x valueOf=y>b', 'ab'],
  ])('renders %s', (_name, html, expected) => expect(markdown(html)).toBe(expected));
});
