// SPDX-License-Identifier: Apache-2.0
// Tables on paper: one that is wider than a page stands there in parts, the first column before each.
const paper_width = 670;  // CSS pixels between the margins: A4 has 718, Letter 740

/// For each part, the columns that it has besides the first.
function parts_of(widths) {
  const parts = [[]];
  let used = widths[0];
  widths.slice(1).forEach((width, i) => {
    if (used + width > paper_width && parts.at(-1).length) { parts.push([]); used = widths[0]; }
    parts.at(-1).push(i + 1);
    used += width;
  });
  return parts;
}
function part_of(table, columns) {
  const part = table.cloneNode(true);
  part.removeAttribute('id');
  for (const row of part.rows) {
    const cells = [...row.cells];
    row.replaceChildren(cells[0], ...columns.map(n => cells[n]));
    for (const button of row.querySelectorAll('th button')) button.replaceWith(button.textContent);  // a head is repeated without buttons
  }
  return part;
}
addEventListener('beforeprint', () => {
  for (const screen of document.querySelectorAll('main section:not([hidden]) .scroll')) {
    const table = screen.querySelector('table'), all = [...table.rows[0].cells].map((_, n) => n);
    const paper = element('div', {className: 'paper'}, part_of(table, all.slice(1)));
    screen.after(paper);
    const parts = parts_of([...paper.querySelector('tr').cells].map(cell => cell.getBoundingClientRect().width));
    if (parts.length === 1) { paper.remove(); continue; }
    paper.replaceChildren(...parts.map(columns => part_of(table, columns)));
    screen.classList.add('in-parts');
  }
});
addEventListener('afterprint', () => {
  for (const paper of document.querySelectorAll('.paper')) paper.remove();
  for (const screen of document.querySelectorAll('.in-parts')) screen.classList.remove('in-parts');
});
