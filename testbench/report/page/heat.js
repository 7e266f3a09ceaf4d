// SPDX-License-Identifier: Apache-2.0
// A metric over two axes, as coloured cells of a table.
const heat = (() => {
  const root = $('heat');
  const most_cells_with_text = 400, most_labels = 20;
  // Viridis, which grows evenly in lightness: it can be read in grey, too.
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const colour = share => {
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
    return stops[i].map((v, n) => Math.round(v + (stops[i + 1][n] - v) * (at - i)));
  };
  const axes = varying.filter(c => c.name !== 'seed').sort((a, b) => b.distinct.length - a.distinct.length);
  const x = axes[0], y = axes.find(c => c !== x && besides(x).includes(c));
  const choice = {x, y, z: metrics[0], log: false};
  const rest_of = new selection(c => c.distinct[0]);

  function cells() {
    const rest = besides(choice.x, choice.y), found = new Map();
    for (let i = 0; i < lines; ++i) {
      const z = choice.z.values[i], at = [choice.x.values[i], choice.y.values[i]];
      if (z === null || at.includes(null) || !rest_of.has(rest, i)) continue;
      const key = JSON.stringify(at);
      if (!found.has(key)) found.set(key, {sum: 0, count: 0, line: i});
      const cell = found.get(key);
      cell.sum += z; ++cell.count;
    }
    for (const cell of found.values()) cell.z = cell.sum / cell.count;
    return found;
  }
  const controls = update => {
    const axis = (label, key, other) => select(label, varying.filter(c => c !== choice[other]).map(c => [c.heading, c]), choice[key], c => { choice[key] = c; update(); });
    return [
      select('Colour', metrics.map(c => [c.heading, c]), choice.z, c => { choice.z = c; choice.log = spans(c.distinct); update(); }),
      axis('To the right', 'x', 'y'), axis('Upward', 'y', 'x'),
      ...rest_of.controls(besides(choice.x, choice.y), null, update),
      flag('logarithmic colours', choice.log, v => { choice.log = v; update(); })];
  };
  /// Of a long axis, some of the values.
  const label_of = (value, i, all) => i % Math.ceil(all.length / most_labels) ? '' : text_of(value);
  function cell_of(cell, low, high, mute, where) {
    if (!cell) return element('td');
    const share = high === low ? 0.5 : choice.log ? Math.log(cell.z / low) / Math.log(high / low) : (cell.z - low) / (high - low);
    const [r, g, b] = colour(share), text = String(+cell.z.toPrecision(3));
    const button = element('button', {type: 'button', textContent: mute ? '' : text,
      title: `${where}: ${text_of(cell.z)}`, ariaLabel: `${where}: ${choice.z.heading} ${text_of(cell.z)}`});
    button.style.background = `rgb(${r} ${g} ${b})`;
    if (!mute) button.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 130 ? '#000' : '#fff';
    button.addEventListener('click', () => show_point(cell.line));
    return element('td', {}, button);
  }
  function draw() {
    const found = cells(), all = [...found.values()].map(c => c.z);
    const low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
    const log = choice.log && low > 0;
    if (!log) choice.log = false;
    const mute = choice.x.distinct.length * choice.y.distinct.length > most_cells_with_text;
    root.querySelector('table').className = mute ? 'dense' : '';
    root.querySelector('table').setAttribute('aria-label', `${choice.z.heading} by ${choice.x.heading} (to the right) and ${choice.y.heading} (upward)`);
    const rows = [...choice.y.distinct].reverse().map((v, i, all) => element('tr', {}, element('th', {scope: 'row', textContent: label_of(v, all.length - 1 - i, all)}),
      ...choice.x.distinct.map(u => cell_of(found.get(JSON.stringify([u, v])), low, high, mute, `${named(choice.x, u)}, ${named(choice.y, v)}`))));
    root.querySelector('table').replaceChildren(
      element('thead', {}, element('tr', {}, element('th', {textContent: `${choice.y.heading} ↑  ${choice.x.heading} →`}),
        ...choice.x.distinct.map((u, i, all) => element('th', {scope: 'col', textContent: label_of(u, i, all)})))),
      element('tbody', {}, ...rows));
    const [from, bar, to] = root.querySelector('.scale').children;
    bar.style.background = `linear-gradient(to right, ${stops.map(s => `rgb(${s.join(' ')})`).join(', ')})`;
    from.textContent = `${choice.z.heading}: ${all.length ? text_of(low) : ''}`;
    to.textContent = (all.length ? text_of(high) : '') + (choice.log ? ', logarithmic' : '');
    root.querySelector('.note').textContent = all.length ? '' : 'No point has a result there.';
  }
  if (!choice.x || !choice.y || !choice.z || data.sensitivity || strewn) return null;
  choice.log = spans(choice.z.distinct);
  return {root, controls, draw};
})();
