// SPDX-License-Identifier: Apache-2.0
// One point: its configuration, all of its numbers, and the command that reproduces it.
let chosen = -1, opened_from = null;
const first_line_of = new Map();
data.lines.point.forEach((point, line) => { if (!first_line_of.has(point)) first_line_of.set(point, line); });

function show_point(line) {
  if ($('details').hidden) opened_from = document.activeElement;
  chosen = line;
  const number = data.lines.point[line], point = data.points[number - 1];
  $('details').hidden = false;
  $('details-title').textContent = `Point ${number}: ${point.status || 'to do'}`;
  $('command').textContent = point.command;
  const rows = [];
  const add = (name, value) => rows.push(element('dt', {textContent: name}), element('dd', {textContent: text_of(value)}));
  for (const [name, value] of Object.entries(point.configuration))
    if (value && typeof value === 'object') for (const [inner, v] of Object.entries(value)) add(name === 'arguments' ? 'arguments.' + inner : inner, v);
    else add(name, value);
  for (const c of inputs) if (c.kind === 'key' && c.values[line] !== null) add(c.heading, c.values[line]);
  for (const c of metrics) if (c.values[line] !== null) add(c.heading, c.values[line]);
  for (const name of ['git_revision', 'firmware_sha256', 'host', 'finished', 'wall_s', 'events']) if (point[name] !== undefined) add(name.replaceAll('_', ' '), point[name]);
  $('configuration').replaceChildren(...rows);
  $('log').textContent = point.log || '';
  $('log').hidden = !point.log;
  show_table();
  $('details').scrollTop = 0;
  $('details').focus({preventScroll: true});
}
function close_point() {
  const was = chosen;
  $('details').hidden = true;
  chosen = -1;
  show_table();
  const back = opened_from?.isConnected ? opened_from : $('table').querySelector(`tr[data-line="${was}"] button`);
  back?.focus({preventScroll: true});
}
$('close').addEventListener('click', close_point);
addEventListener('keydown', event => { if (event.key === 'Escape' && !$('details').hidden) close_point(); });
$('copy').addEventListener('click', async () => {
  try { await navigator.clipboard.writeText($('command').textContent); }
  catch { getSelection().selectAllChildren($('command')); document.execCommand('copy'); }
  $('copy').textContent = 'Copied';
  setTimeout(() => { $('copy').textContent = 'Copy the command'; }, 1500);
});
