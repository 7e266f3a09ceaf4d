// SPDX-License-Identifier: Apache-2.0
// The stages of a message on top of each other, by one axis: what the study keeps as account.STAGE.KIND. Means and the last
// message's stages add up to the latency; medians and maxima need not.
const account = (() => {
  const root = $('account');
  const stages = metrics.map(column => {
    const parts = /^account\.(?!beside\.)(.+)\.(last|mean|median|p99|maximum)_ps$/.exec(column.name);
    return parts && parts[1] !== 'latency' ? {column, stage: parts[1], part: parts[1].split(':')[0], kind: parts[2]} : null;
  }).filter(Boolean);
  const kinds = [...new Set(stages.map(s => s.kind))];
  if (stages.length < 2) return null;
  const choice = {x: varying.filter(c => c.name !== 'seed').sort((a, b) => b.distinct.length - a.distinct.length)[0] || inputs[0], kind: kinds.includes('mean') ? 'mean' : kinds[0], by: 'part'};
  if (!choice.x) return null;
  const rest_of = new selection(c => c.distinct[0]), hidden = new Set();
  const waiting = new Set(stages.filter(s => s.column.waits).map(s => s.stage)).add('waiting');

  const controls = update => [
    select('Bars of', varying.map(c => [c.heading, c]), choice.x, c => { choice.x = c; update(); }),
    select('Stacked', [['by part of the journey', 'part'], ['by stage', 'stage'], ['work and waiting', 'waits']], choice.by, v => { choice.by = v; update(); }),
    ...(kinds.length > 1 ? [select('Of the messages', kinds.map(k => [`the ${k}`, k]), choice.kind, k => { choice.kind = k; update(); })] : []),
    ...rest_of.controls(besides(choice.x), null, update)];

  /// Stripes for what waits.
  function hatched(colour) {
    const tile = element('canvas', {width: 8, height: 8}), pen = tile.getContext('2d');
    pen.fillStyle = colour; pen.globalAlpha = .35; pen.fillRect(0, 0, 8, 8);
    pen.globalAlpha = 1; pen.strokeStyle = colour; pen.lineWidth = 2;
    for (const [x, y] of [[-2, 2], [0, 8], [6, 10]]) { pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + (y === 8 ? 8 : 4), y - (y === 8 ? 8 : 4)); pen.stroke(); }
    return pen.createPattern(tile, 'repeat');
  }
  function draw() {
    const rest = besides(choice.x), bars = choice.x.distinct.length ? choice.x.distinct : [...new Set(choice.x.values)];
    const of_kind = stages.filter(s => s.kind === choice.kind);
    const name_of = s => choice.by === 'stage' ? s.stage : choice.by === 'waits' ? (s.column.waits ? 'waiting' : 'work') : s.part;
    const sums = new Map(), counts = new Map(), line_of = new Map();
    for (let i = 0; i < lines; ++i) {
      const at = bars.indexOf(choice.x.values[i]);
      if (at < 0 || !rest_of.has(rest, i) || of_kind.every(s => s.column.values[i] === null)) continue;
      counts.set(at, (counts.get(at) || 0) + 1);
      if (!line_of.has(at)) line_of.set(at, i);
      for (const s of of_kind) {
        const name = name_of(s);
        if (!sums.has(name)) sums.set(name, Array(bars.length).fill(0));
        sums.get(name)[at] += (s.column.values[i] || 0) / 1e6;
      }
    }
    const parts = [...new Set(of_kind.map(s => s.part))];
    const datasets = [...sums].filter(([, us]) => us.some(v => v > 0)).map(([label, us], i) => {
      const n = choice.by === 'stage' ? parts.indexOf(label.split(':')[0]) : i;
      const colour = colours[n % colours.length];
      return {label, data: us.map((v, at) => v / (counts.get(at) || 1)), hidden: hidden.has(label), colour, stack: 'message',
        hatch: waiting.has(label), backgroundColor: waiting.has(label) ? hatched(colour) : colour,
        borderColor: style('--back'), borderWidth: choice.by === 'stage' ? .5 : 1};
    });
    const totals = bars.map((_, at) => datasets.reduce((sum, set) => sum + set.data[at], 0));
    root.querySelector('.note').textContent = (choice.kind === 'mean' || choice.kind === 'last' ? 'From VipPostSend until VipRecvDone has the message: the stages add up to it.' : 'Quantiles of stages do not add up to that of the whole.') + (datasets.some(set => set.hatch) ? ' Hatched: somebody waits.' : '');
    const upright = scale('time of a message (us)', false);
    const chart = replace_chart(root, `Stages by ${choice.x.heading}: ` + bars.slice(0, 12).map((b, at) => `${text_of(b)}: ${text_of(totals[at])} us`).join('; '), {
      type: 'bar', data: {labels: bars.map(text_of), datasets}, options: {
        scales: {x: {stacked: true, title: {display: true, text: choice.x.heading, color: style('--text'), font: {size: 14}}, grid: {display: false}, ticks: {color: style('--soft')}}, y: {...upright, stacked: true}},
        plugins: {tooltip: {callbacks: {title: items => items.length ? named(choice.x, bars[items[0].dataIndex]) : '', label: item => `${item.dataset.label}: ${text_of(item.raw)} us, ${(100 * item.raw / totals[item.dataIndex]).toFixed(1)} % of ${text_of(totals[item.dataIndex])} us`}}},
        onClick: (_, hit) => { if (hit.length && line_of.has(hit[0].index)) show_point(line_of.get(hit[0].index)); },
      }});
    show_legend(root, chart, hidden, set => {
      const block = element('i', {className: set.hatch ? 'hatched' : 'block'});
      if (set.hatch) block.style.background = `repeating-linear-gradient(135deg, ${set.colour} 0 2px, transparent 2px 5px)`;
      else block.style.borderColor = set.colour;
      return block;
    });
  }
  return {root, controls, draw};
})();
