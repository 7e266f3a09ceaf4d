// SPDX-License-Identifier: Apache-2.0
// Forms above the views. Each view is an object {root, controls(), draw()}; a change of a control makes both anew.
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
/// Shows a view with its form; the focus stays where it was.
function show_view(view) {
  const form = view.root.querySelector('.controls');
  const update = () => {
    const focused = [...form.querySelectorAll('select, input')].indexOf(document.activeElement);
    form.replaceChildren(...view.controls(update));
    if (focused >= 0) form.querySelectorAll('select, input')[focused]?.focus();
    view.draw();
  };
  view.root.hidden = false;
  views.push(() => view.draw());
  update();
}
/// For each of these columns: one curve (or bar) for each value, the mean of all, or one value.
class selection {
  constructor(first) {
    this.of = new Map();
    for (const c of varying) this.of.set(c, c.name === 'seed' ? 'mean' : first(c));
  }
  controls(rest, each, update) {
    return rest.map(c => select(c.heading,
      [...(each ? [[each, 'each']] : []), ['their mean', 'mean'], ...c.distinct.map(v => ['only ' + text_of(v), v])],
      this.of.get(c), v => { this.of.set(c, v); update(); }));
  }
  has(rest, line) {
    return rest.every(c => ['each', 'mean'].includes(this.of.get(c)) || c.values[line] === this.of.get(c));
  }
}
