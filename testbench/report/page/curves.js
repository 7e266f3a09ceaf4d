// SPDX-License-Identifier: Apache-2.0
// A metric against an axis: a curve for each combination of what else varies, and what was published beside them.
const curves = (() => {
  const root = $('curves');
  const most_curves = 24;
  const best = varying.filter(c => c.numeric && c.name !== 'seed').sort((a, b) => b.distinct.length - a.distinct.length)[0];
  const choice = {x: best || varying[0], y: metrics[0], log_x: false, log_y: false, published: true};
  const rest_of = new selection(() => 'each');
  const hidden = new Set();
  const suggest_logs = () => {
    choice.log_x = choice.x.numeric && spans(choice.x.distinct);
    choice.log_y = spans(choice.y.distinct);
  };

  function families() {
    const rest = besides(choice.x), each = rest.filter(c => rest_of.of.get(c) === 'each');
    const found = new Map();
    for (let i = 0; i < lines; ++i) {
      const y = choice.y.values[i], at = choice.x.values[i];
      if (y === null || at === null || at === '' || !rest_of.has(rest, i)) continue;
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
  /// Published figures of this metric in rows that are shown: a mark where the row is an x, else a line across.
  function published() {
    if (!choice.published) return [];
    const rest = besides(choice.x);
    return data.published.filter(f => f.column === choice.y.name).flatMap(f => {
      const row = Object.entries(f.row);
      const at = row.find(([name]) => name === choice.x.name);
      const shown = row.every(([name, value]) => {
        const column = inputs.find(c => c.name === name);
        if (!column || !column.values.some(v => text_of(v) === value)) return false;
        const wanted = rest_of.of.get(column);
        return column === choice.x || !rest.includes(column) || wanted === 'each' || text_of(wanted) === value;
      });
      const xs = at ? [Number(at[1])] : [choice.x.distinct[0], choice.x.distinct[choice.x.distinct.length - 1]].map((v, i) => choice.x.numeric ? v : i * (choice.x.distinct.length - 1));
      return shown && choice.x.distinct.length > 1 ? [{...f, label: `published: ${f.what} (${f.design}${f.fitted ? '; fitted' : ''})`,
        points: [...new Set([f.least, f.most])].flatMap(y => [...xs.map(x => ({x, y, published: f})), {x: xs[xs.length - 1], y: NaN}])}] : [];  // a gap behind each line
    });
  }

  const controls = update => [
    select('Upward', metrics.map(c => [c.heading, c]), choice.y, c => { choice.y = c; suggest_logs(); update(); }),
    select('To the right', varying.map(c => [c.heading, c]), choice.x, c => { choice.x = c; suggest_logs(); update(); }),
    ...rest_of.controls(besides(choice.x), 'a curve for each', update),
    flag('logarithmic to the right', choice.log_x, v => { choice.log_x = v; update(); }),
    flag('logarithmic upward', choice.log_y, v => { choice.log_y = v; update(); }),
    ...(data.published.some(f => f.column === choice.y.name) ? [flag('published figures', choice.published, v => { choice.published = v; update(); })] : [])];

  function draw() {
    const all = families(), shown = all.slice(0, most_curves), figures = published();
    root.querySelector('.note').textContent = all.length > shown.length ?
      `The first ${shown.length} of ${all.length} curves; choose values or means above to see others.` : '';
    const datasets = shown.map((curve, i) => ({
      label: curve.name || choice.y.heading, data: curve.points, hidden: hidden.has(curve.name || choice.y.heading),
      borderColor: colours[i % colours.length], backgroundColor: colours[i % colours.length],
      borderDash: dashes[Math.floor(i / colours.length) % dashes.length], pointStyle: marks[i % marks.length],
      borderWidth: 2, pointRadius: curve.points.length > 200 ? 0 : curve.points.length > 40 ? 2 : 4, pointHoverRadius: 7, tension: 0}));
    for (const f of figures) datasets.push({
      label: f.label, data: f.points, hidden: hidden.has(f.label), borderColor: style('--text'), backgroundColor: 'transparent',
      borderDash: [2, 4], borderWidth: 1.5, pointStyle: 'rectRot', pointRadius: f.points.every(p => p.x === f.points[0].x) ? 7 : 0, pointBorderWidth: 2, pointHoverRadius: 9});
    const x_names = choice.x.numeric ? null : choice.x.distinct;
    const chart = replace_chart(root, `${choice.y.heading} against ${choice.x.heading}: ${all.length} curves. ` +
      shown.map(c => `${c.name || choice.y.heading}: from ${text_of(c.points[0].y)} to ${text_of(c.points[c.points.length - 1].y)}`).join('; ') + '. The table below has all numbers.',
    {type: 'line', data: {datasets}, options: {
      parsing: false, normalized: true, interaction: {mode: 'nearest', intersect: false},
      scales: {x: scale(choice.x.heading, choice.log_x && choice.x.numeric, x_names), y: scale(choice.y.heading, choice.log_y)},
      plugins: {tooltip: {callbacks: {
        title: items => items.length ? named(choice.x, x_names ? x_names[items[0].raw.x] : items[0].raw.x) : '',
        label: item => `${item.dataset.label}: ${text_of(item.raw.y)}` +
          (item.raw.count > 1 ? ` (mean of ${item.raw.count}: ${text_of(item.raw.low)} to ${text_of(item.raw.high)})` : ''),
        footer: items => items[0]?.raw.published?.source ?? '',
      }}},
      onClick: (_, hit) => {
        const line = hit.length ? datasets[hit[0].datasetIndex].data[hit[0].index].line : undefined;
        if (line !== undefined) show_point(line);
      },
    }});
    const mark_of = set => {
      const line = element('i');
      line.style.borderColor = set.borderColor;
      line.style.borderTopStyle = set.borderDash.length ? 'dashed' : 'solid';
      return line;
    };
    if (datasets.length > 1) show_legend(root, chart, hidden, mark_of);
    else root.querySelector('.legend').replaceChildren();
    root.querySelector('.sources').replaceChildren(...figures.map(f => element('li', {textContent:
      `${f.label}: ${f.least === f.most ? text_of(f.least) : text_of(f.least) + ' to ' + text_of(f.most)} ${f.unit}. ${f.evidence}. ${f.fitted ? `Fitted to it: ${f.fitted}. ` : ''}Source: ${f.source}`})));
  }
  if (!choice.x || !choice.y || data.sensitivity || strewn) return null;
  suggest_logs();
  return {root, controls, draw};
})();
