// SPDX-License-Identifier: Apache-2.0
// All results, with a filter, sorted by any column, a page at a time.
const lines_of_a_page = 100;
const failures = data.lines.status.some(s => s !== 'done');
const shown_columns = [
  {heading: 'Point', numeric: true, values: data.lines.point, name: 'point'}, ...columns,
  ...(failures ? [{heading: 'Status', numeric: false, values: data.lines.status, name: 'status'}] : [])];
let order = [...Array(lines).keys()], page = 0, sorted = {column: shown_columns[0], up: true};

/// Every word must fit: a comparison of a column with a number or a text, or a part of any cell.
function wanted(words) {
  const tests = words.map(word => {
    const parts = /^([^<>=!]+)(<=|>=|!=|<|>|=)(.+)$/.exec(word);
    const column = parts && shown_columns.find(c => c.name === parts[1] || c.name.endsWith('.' + parts[1]));
    if (!column) { const low = word.toLowerCase(); return i => shown_columns.some(c => text_of(c.values[i]).toLowerCase().includes(low)); }
    const to = column.numeric ? Number(parts[3]) : parts[3];
    const compare = {'<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b, '=': (a, b) => a === b, '!=': (a, b) => a !== b}[parts[2]];
    return i => column.values[i] !== null && compare(column.values[i], to);
  });
  return i => tests.every(test => test(i));
}
function arrange() {
  const fits = wanted($('filter').value.trim().split(/\s+/).filter(Boolean));
  const {column, up} = sorted;
  order = [...Array(lines).keys()].filter(fits);
  const direction = up ? 1 : -1;
  order.sort((a, b) => {
    const x = column.values[a], y = column.values[b];
    if (x === null || y === null) return (x === null) - (y === null);
    return (x < y ? -1 : x > y ? 1 : 0) * direction || a - b;
  });
  page = 0;
  show_table();
}
function show_head() {
  $('table').tHead.replaceChildren(element('tr', {}, ...shown_columns.map(c => {
    const button = element('button', {type: 'button', textContent: c.heading + (sorted.column === c ? (sorted.up ? ' ▲' : ' ▼') : '')});
    button.addEventListener('click', () => {
      sorted = {column: c, up: sorted.column === c ? !sorted.up : true};
      show_head();
      arrange();
      $('table').tHead.rows[0].cells[shown_columns.indexOf(c)].firstChild.focus();
    });
    const cell = element('th', {scope: 'col', className: c.numeric ? 'number' : ''}, button);
    cell.setAttribute('aria-sort', sorted.column === c ? (sorted.up ? 'ascending' : 'descending') : 'none');
    return cell;
  })));
}
function show_table() {
  const pages = Math.max(1, Math.ceil(order.length / lines_of_a_page));
  page = Math.min(page, pages - 1);
  $('table').tBodies[0].replaceChildren(...order.slice(page * lines_of_a_page, (page + 1) * lines_of_a_page).map(i => {
    const cells = shown_columns.map((c, n) => element('td', {className: c.numeric ? 'number' : ''},
      n ? text_of(c.values[i]) : element('button', {type: 'button', className: 'link', textContent: c.values[i], ariaLabel: `Show point ${c.values[i]}`})));
    const row = element('tr', {className: (i === chosen ? 'chosen ' : '') + (data.lines.status[i] === 'done' ? '' : 'failed')}, ...cells);
    row.dataset.line = i;
    row.addEventListener('click', () => show_point(i));
    return row;
  }));
  $('count').textContent = `${order.length} of ${lines} lines`;
  $('page').textContent = `Page ${page + 1} of ${pages}`;
  $('before').disabled = page === 0;
  $('after').disabled = page === pages - 1;
}
$('filter').addEventListener('input', arrange);
$('before').addEventListener('click', () => { --page; show_table(); });
$('after').addEventListener('click', () => { ++page; show_table(); });
