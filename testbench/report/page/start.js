// SPDX-License-Identifier: Apache-2.0
$('summary').textContent = data.summary;
if (!data.goals.length) $('results').before($('tradeoff'));  // what nobody asked for comes last
show_head();
arrange();
for (const view of [tornado, tradeoff, curves, heat, account]) if (view) show_view(view);
$('contents').replaceChildren(...[...document.querySelectorAll('main section:not([hidden])')].map(section =>
  element('a', {href: '#' + section.id, textContent: section.querySelector('h2').textContent})));
