// SPDX-License-Identifier: Apache-2.0
// The page of a study: curves, a table and the configuration of a point. `data` is what study_report.cpp writes.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const lines = data.lines.point.length;
const most_curves = 24, lines_of_a_page = 100;
// Okabe and Ito's colours, which people with any kind of sight tell apart; yellow left out.
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#7a7a86'];
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const marks = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star'];

// ---- Columns: numbers where all that stands there is one.
const columns = data.columns.map((column, index) => {
  const given = column.values.filter(v => v !== null && v !== '');
  const numeric = given.length > 0 && given.every(v => typeof v === 'number' || (v !== '' && isFinite(v)));
  const values = numeric ? column.values.map(v => v === null || v === '' ? null : Number(v)) : column.values;
  const distinct = [...new Set(values.filter(v => v !== null && v !== ''))];
  if (numeric) distinct.sort((a, b) => a - b);
  return {...column, index, numeric, values, distinct};
});
const inputs = columns.filter(c => c.kind !== 'metric');
const metrics = columns.filter(c => c.kind === 'metric');
const varying = inputs.filter(c => c.distinct.length > 1);
const text_of = value => value === null || value === undefined ? '' :
  typeof value === 'number' ? (Number.isInteger(value) ? String(value) : String(+value.toPrecision(6))) : String(value);
/// "bus.clock 33 MHz"
const named = (column, value) => {
  const parts = /^(.*) \((.*)\)$/.exec(column.heading);
  return parts ? `${parts[1]} ${text_of(value)} ${parts[2]}` : `${column.heading} ${text_of(value)}`;
};
const spans = values => {
  const positive = values.filter(v => v !== null);
  const low = Math.min(...positive), high = Math.max(...positive);
  return low > 0 && high / low > 16;
};

// ---- Theme
const themes = ['system', 'light', 'dark'];
let theme = 0;
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
$('theme').addEventListener('click', () => {
  theme = (theme + 1) % themes.length;
  if (theme) document.documentElement.dataset.theme = themes[theme];
  else delete document.documentElement.dataset.theme;
  $('theme').textContent = 'Theme: ' + (theme ? themes[theme] : 'as the system');
  draw();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw());

// ---- Controls: what goes to the right and upward, and for all else a curve for each value, the mean, or one value.
const best = varying.filter(c => c.numeric && c.name !== 'seed').sort((a, b) => b.distinct.length - a.distinct.length)[0];
const choice = {x: best || varying[0], y: metrics[0], log_x: false, log_y: false, of: new Map()};
for (const c of varying) choice.of.set(c, c.name === 'seed' ? 'mean' : 'each');
const suggest_logs = () => {
  choice.log_x = !!choice.x && choice.x.numeric && spans(choice.x.distinct);
  choice.log_y = !!choice.y && spans(choice.y.distinct);
};

function select(label, options, chosen, change) {
  const made = element('select');
  options.forEach(([text, value], i) => made.append(element('option', {textContent: text, value: String(i), selected: value === chosen})));
  made.addEventListener('change', () => change(options[+made.value][1]));
  return element('label', {}, label, made);
}
function flag(label, chosen, change) {
  const made = element('input', {type: 'checkbox', checked: chosen});
  made.addEventListener('change', () => change(made.checked));
  return element('label', {className: 'flag'}, made, label);
}
/// What varies besides x: not what follows from it, as axes that advance together do.
const others = () => varying.filter(c => {
  if (c === choice.x) return false;
  const seen = new Map();
  return choice.x.values.some((x, i) => {
    if (x === null || c.values[i] === null) return false;
    if (!seen.has(x)) seen.set(x, c.values[i]);
    return seen.get(x) !== c.values[i];
  });
});
function show_controls() {
  const form = $('controls');
  const focused = [...form.querySelectorAll('select, input')].indexOf(document.activeElement);
  const update = () => { show_controls(); draw(); };
  form.replaceChildren(
    select('Upward', metrics.map(c => [c.heading, c]), choice.y, c => { choice.y = c; suggest_logs(); update(); }),
    select('To the right', varying.map(c => [c.heading, c]), choice.x, c => { choice.x = c; suggest_logs(); update(); }),
    ...(choice.x ? others() : []).map(c => select(c.heading,
      [['a curve for each', 'each'], ['their mean', 'mean'], ...c.distinct.map(v => ['only ' + text_of(v), v])],
      choice.of.get(c), v => { choice.of.set(c, v); update(); })),
    flag('logarithmic to the right', choice.log_x, v => { choice.log_x = v; draw(); }),
    flag('logarithmic upward', choice.log_y, v => { choice.log_y = v; draw(); }));
  if (focused >= 0) form.querySelectorAll('select, input')[focused]?.focus();
}

// ---- Curves
function families() {
  const rest = others();
  const each = rest.filter(c => choice.of.get(c) === 'each');
  const found = new Map();
  for (let i = 0; i < lines; ++i) {
    const y = choice.y.values[i], at = choice.x.values[i];
    if (y === null || at === null) continue;
    if (rest.some(c => !['each', 'mean'].includes(choice.of.get(c)) && c.values[i] !== choice.of.get(c))) continue;
    const x = choice.x.numeric ? at : choice.x.distinct.indexOf(at);
    const name = each.map(c => named(c, c.values[i])).join(', ');
    if (!found.has(name)) found.set(name, new Map());
    const curve = found.get(name);
    if (!curve.has(x)) curve.set(x, {x, sum: 0, count: 0, low: y, high: y, line: i});
    const p = curve.get(x);
    p.sum += y; ++p.count; p.low = Math.min(p.low, y); p.high = Math.max(p.high, y);
  }
  return [...found].map(([name, curve]) => ({name, points: [...curve.values()].map(p => ({...p, y: p.sum / p.count})).sort((a, b) => a.x - b.x)}));
}

let chart = null;
const hidden = new Set();
function draw() {
  chart?.destroy();
  chart = null;
  $('legend').replaceChildren();
  if (!choice.x || !choice.y) { $('note').textContent = 'Nothing varies, or no result is there yet: see the table.'; $('plot').hidden = true; return; }
  const all = families(), shown = all.slice(0, most_curves);
  $('note').textContent = all.length > shown.length ?
    `The first ${shown.length} of ${all.length} curves; choose values or means above to see others.` : '';
  const axis = (column, log, other) => ({
    type: log ? 'logarithmic' : 'linear',
    title: {display: true, text: column.heading, color: style('--text'), font: {size: 14}},
    grid: {color: style('--line')},
    ticks: {color: style('--soft'), ...other},
  });
  const label = {callback: v => choice.x.distinct[v] ?? '', stepSize: 1};
  const datasets = shown.map((curve, i) => ({
    label: curve.name || choice.y.heading, data: curve.points, hidden: hidden.has(curve.name),
    borderColor: colours[i % colours.length], backgroundColor: colours[i % colours.length],
    borderDash: dashes[Math.floor(i / colours.length) % dashes.length], pointStyle: marks[i % marks.length],
    borderWidth: 2, pointRadius: 4, pointHoverRadius: 7, tension: 0}));
  chart = new Chart($('chart'), {type: 'line', data: {datasets}, options: {
    parsing: false, animation: false, maintainAspectRatio: false, normalized: true,
    interaction: {mode: 'nearest', intersect: false},
    scales: {x: axis(choice.x, choice.log_x && choice.x.numeric, choice.x.numeric ? {} : label), y: axis(choice.y, choice.log_y, {})},
    plugins: {legend: {display: false}, tooltip: {callbacks: {
      title: items => items.length ? named(choice.x, choice.x.numeric ? items[0].raw.x : choice.x.distinct[items[0].raw.x]) : '',
      label: item => `${item.dataset.label}: ${text_of(item.raw.y)}` +
        (item.raw.count > 1 ? ` (mean of ${item.raw.count}: ${text_of(item.raw.low)} to ${text_of(item.raw.high)})` : ''),
    }}},
    onClick: (_, hit) => { if (hit.length) show_point(datasets[hit[0].datasetIndex].data[hit[0].index].line); },
  }});
  $('chart').setAttribute('aria-label', `${choice.y.heading} against ${choice.x.heading}: ${all.length} curves. ` +
    shown.map(c => `${c.name || choice.y.heading}: from ${text_of(c.points[0].y)} to ${text_of(c.points[c.points.length - 1].y)}`).join('; ') + '. The table below has all numbers.');
  if (shown.length > 1) shown.forEach((curve, i) => {
    const line = element('i');
    line.style.borderColor = datasets[i].borderColor;
    line.style.borderTopStyle = datasets[i].borderDash.length ? 'dashed' : 'solid';
    const button = element('button', {type: 'button'}, line, curve.name);
    button.setAttribute('aria-pressed', String(!hidden.has(curve.name)));
    button.addEventListener('click', () => {
      if (!hidden.delete(curve.name)) hidden.add(curve.name);
      button.setAttribute('aria-pressed', String(!hidden.has(curve.name)));
      chart.setDatasetVisibility(i, !hidden.has(curve.name));
      chart.update();
    });
    $('legend').append(button);
  });
}

// ---- Table
const failures = data.lines.status.some(s => s !== 'done');
const shown_columns = [
  {heading: 'Point', numeric: true, values: data.lines.point, name: 'point'}, ...columns,
  ...(failures ? [{heading: 'Status', numeric: false, values: data.lines.status, name: 'status'}] : [])];
let order = [...Array(lines).keys()], page = 0, sorted = {column: shown_columns[0], up: true}, chosen = -1;

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
      n ? text_of(c.values[i]) : element('button', {type: 'button', textContent: c.values[i], ariaLabel: `Show point ${c.values[i]}`})));
    const row = element('tr', {className: (i === chosen ? 'chosen ' : '') + (data.lines.status[i] === 'done' ? '' : 'failed')}, ...cells);
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

// ---- One point
function show_point(line) {
  chosen = line;
  const point = data.points[data.lines.point[line] - 1];
  $('details').hidden = false;
  $('details-title').textContent = `Point ${data.lines.point[line]}: ${point.status || 'to do'}`;
  $('command').textContent = point.command;
  const rows = [];
  const add = (name, value) => rows.push(element('dt', {textContent: name}), element('dd', {textContent: text_of(value)}));
  for (const [name, value] of Object.entries(point.configuration))
    if (value && typeof value === 'object') for (const [inner, v] of Object.entries(value)) add(name === 'arguments' ? 'arguments.' + inner : inner, v);
    else add(name, value);
  for (const c of metrics) if (c.values[line] !== null) add(c.heading, c.values[line]);
  for (const name of ['git_revision', 'firmware_sha256', 'host', 'finished', 'wall_s', 'events']) if (point[name] !== undefined) add(name.replaceAll('_', ' '), point[name]);
  $('configuration').replaceChildren(...rows);
  $('log').textContent = point.log || '';
  $('log').hidden = !point.log;
  show_table();
  $('details').scrollIntoView({block: 'nearest'});
  $('details').focus({preventScroll: true});
}
$('copy').addEventListener('click', async () => {
  try { await navigator.clipboard.writeText($('command').textContent); }
  catch { getSelection().selectAllChildren($('command')); document.execCommand('copy'); }
  $('copy').textContent = 'Copied';
  setTimeout(() => { $('copy').textContent = 'Copy the command'; }, 1500);
});

$('summary').textContent = data.summary;
suggest_logs();
show_controls();
show_head();
arrange();
draw();
})();
