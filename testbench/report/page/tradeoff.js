// SPDX-License-Identifier: Apache-2.0
// Two numbers of each point against each other, and the points that no other one beats in both (the Pareto front); in all
// goals, where the study has goals and both are among them.
const tradeoff = (() => {
  const root = $('tradeoff');
  const most_quantities = 80;
  const place = inputs.filter(c => c.kind === 'axis' && c.name !== 'seed');
  const keys = inputs.filter(c => c.kind === 'key');

  /// A dot for each combination of axes: seeds are one, rows are numbers of it.
  const dots = new Map();
  for (let i = 0; i < lines; ++i) {
    const id = JSON.stringify(place.map(c => c.values[i]));
    if (!dots.has(id)) dots.set(id, {line: i, lines: []});
    dots.get(id).lines.push(i);
  }
  const row_of = line => keys.filter(c => c.values[line] !== null).map(c => named(c, c.values[line])).join(', ');
  const means = (column, line_fits) => [...dots.values()].map(dot => {
    const values = dot.lines.filter(line_fits).map(i => column.values[i]).filter(v => v !== null);
    return values.length ? values.reduce((a, b) => a + b) / values.length : null;
  });
  /// Everything that may be traded off: the goals; a metric in each row that most points have (in any row, when there is no
  /// such); axes with numbers. `values`: by dot, when wanted.
  const quantities = data.goals.map(g => {
    const column = columns.find(c => c.name === g.column), row = Object.entries(g.row);
    const of_row = row.map(([name, value]) => [inputs.find(c => c.name === name), value]);
    return column && of_row.every(([c]) => c) ? {column, lower: !g.maximise, goal: true,
      label: column.heading + of_row.map(([c, value]) => `, ${named(c, value)}`).join(''),
      make: () => means(column, i => of_row.every(([c, value]) => text_of(c.values[i]) === value))} : null;
  }).filter(Boolean);
  const goals = [...quantities];
  const counts = new Map();
  for (let i = 0; i < lines; ++i) if (metrics.some(c => c.values[i] !== null)) counts.set(row_of(i), (counts.get(row_of(i)) || 0) + 1);
  const common = [...counts].filter(([, count]) => count >= dots.size / 2).map(([row]) => row);
  const add = q => { if (!quantities.some(known => known.label === q.label)) quantities.push(q); };
  for (const c of metrics.filter(c => !c.name.startsWith('account.'))) {
    const lower = !/_per_s$|percent|hit/.test(c.name);
    for (const row of common) add({label: c.heading + (row ? `, ${row}` : ''), column: c, lower, make: () => means(c, i => row_of(i) === row)});
    if (!common.length) add({label: c.heading, column: c, lower, make: () => means(c, () => true)});
  }
  for (const c of place) if (c.numeric && c.distinct.length > 1) add({label: c.heading, column: c, lower: true, make: () => means(c, () => true)});
  const values_of = q => q.values ||= q.make();
  const choice = {x: quantities[0], y: goals[1] || quantities.find(q => place.includes(q.column) && q !== quantities[0]) || quantities[1]};

  const controls = update => ['x', 'y'].flatMap(key => [
    select(key === 'x' ? 'To the right' : 'Upward', quantities.map(q => [q.label, q]), choice[key], q => { choice[key] = q; update(); }),
    select('is better', [['the lower', true], ['the higher', false]], choice[key].lower, v => { choice[key].lower = v; update(); })]);

  /// Whether a dot is on the front of these quantities.
  function front_of(of) {
    const costs = [...dots.keys()].map((_, i) => of.map(q => { const v = values_of(q)[i]; return v === null ? Infinity : q.lower ? v : -v; }));
    const beats = (a, b) => a.every((v, i) => v <= b[i]) && a.some((v, i) => v < b[i]);
    const best = [...costs.keys()].sort((a, b) => { for (let i = 0; i < of.length; ++i) if (costs[a][i] !== costs[b][i]) return costs[a][i] < costs[b][i] ? -1 : 1; return a - b; });
    const front = [];  // whoever beats a dot stands before it in this order
    for (const i of best) if (costs[i].every(isFinite) && !front.some(j => beats(costs[j], costs[i]))) front.push(i);
    return front;
  }
  function draw() {
    const of = goals.length > 2 && goals.includes(choice.x) && goals.includes(choice.y) ? goals : [choice.x, choice.y];
    const front = new Set(front_of(of)), list = [...dots.values()];
    const at = i => ({x: values_of(choice.x)[i], y: values_of(choice.y)[i], dot: list[i]});
    const has = p => p.x !== null && p.y !== null;
    const best = [...front].map(at).sort((a, b) => a.x - b.x), others = list.map((_, i) => i).filter(i => !front.has(i)).map(at).filter(has).sort((a, b) => a.x - b.x);  // Chart.js takes unparsed data to be sorted
    root.querySelector('.note').textContent = `${front.size} of ${front.size + others.length} points are beaten by no other one in ${of.length > 2 ? `all ${of.length} goals` : 'both'}.`;
    const describe = dot => place.filter(c => c.distinct.length > 1).map(c => named(c, c.values[dot.line]));
    const datasets = [
      {label: 'front', data: best, borderColor: colours[1], backgroundColor: colours[1], showLine: of.length === 2, stepped: choice.x.lower ? 'before' : 'after', borderWidth: 2, pointRadius: 5, pointHoverRadius: 8, pointStyle: 'rectRot'},
      {label: 'beaten', data: others, borderColor: colours[6], backgroundColor: 'transparent', pointRadius: others.length > 1000 ? 2 : 3.5, pointHoverRadius: 7, pointBorderWidth: 1.5}];
    replace_chart(root, `${choice.y.label} against ${choice.x.label}: ${front.size} points on the front, which the table below lists, and ${others.length} others.`, {
      type: 'scatter', data: {datasets}, options: {
        parsing: false, interaction: {mode: 'nearest', intersect: false},
        scales: {x: scale(`${choice.x.label} (the ${choice.x.lower ? 'lower' : 'higher'}, the better)`, spans(values_of(choice.x))), y: scale(`${choice.y.label} (the ${choice.y.lower ? 'lower' : 'higher'}, the better)`, spans(values_of(choice.y)))},
        plugins: {legend: {display: true, position: 'bottom', labels: {color: style('--text'), usePointStyle: true}}, tooltip: {callbacks: {
          label: item => [`${choice.x.label}: ${text_of(item.raw.x)}`, `${choice.y.label}: ${text_of(item.raw.y)}`, ...describe(item.raw.dot)]}}},
        onClick: (_, hit) => { if (hit.length) show_point(datasets[hit[0].datasetIndex].data[hit[0].index].dot.line); },
      }});
    const head = ['Point', ...place.filter(c => c.distinct.length > 1).map(c => c.heading), ...of.map(q => q.label).filter(label => !place.some(c => c.heading === label))];
    const body = [...front].sort((a, b) => values_of(choice.x)[a] - values_of(choice.x)[b]).map(i => {
      const line = list[i].line, link = element('button', {type: 'button', className: 'link', textContent: data.lines.point[line], ariaLabel: `Show point ${data.lines.point[line]}`});
      link.addEventListener('click', () => show_point(line));
      return element('tr', {}, element('td', {className: 'number'}, link), ...place.filter(c => c.distinct.length > 1).map(c => element('td', {className: c.numeric ? 'number' : '', textContent: text_of(c.values[line])})),
        ...of.filter(q => !place.includes(q.column)).map(q => element('td', {className: 'number', textContent: text_of(values_of(q)[i])})));
    });
    root.querySelector('table').replaceChildren(element('thead', {}, element('tr', {}, ...head.map(h => element('th', {scope: 'col', className: 'number', textContent: h})))), element('tbody', {}, ...body));
  }
  if (quantities.length < 2 || quantities.length > most_quantities || dots.size < 2 || data.sensitivity) return null;
  return {root, controls, draw};
})();
